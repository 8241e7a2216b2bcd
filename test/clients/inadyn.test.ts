import test, { type ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { run, succeeded } from './support/programs.ts'

const place = usePlace()

/** Runs inadyn once, and logs its output and its requests. */
async function inadyn(t: ExecutionContext, folder: string): Promise<void> {
  const { front, authority } = place()
  const before = front.requests.length
  const options = ['--once', '--foreground', '--no-pidfile', '--config', join(folder, 'conf'), '--cache-dir', folder]
  const said = succeeded(t, await run('inadyn', options, { folder, env: { CURL_CA_BUNDLE: authority.file } }))
  for (const line of [...front.requests.slice(before), ...said.trim().split('\n')]) t.log(line)
}

for (const way of ['over TLS', 'without TLS, in HTTP/1.0'] as const) {
  test.serial(`inadyn updates IPv4 and IPv6 addresses of two names, and again when they change, ${way}`, async (t) => {
    const { service, servers, front, authority } = place()
    const isPlain = way !== 'over TLS'
    const domain = await Domain.create(place(), isPlain ? 'plain.test' : 'inadyn.test')
    const [configuration] = blocks('docs/clients.md', 'inadyn', {
      ...(isPlain ? { '= dns.example.net': `= ${new URL(service.url).host}\n    ssl = false` } : {}),
      'dns.example.net': front.host,
      'example.org': domain.name,
      $TOKEN: servers.owner.secret,
    })
    const folder = newFolder()
    writeFileSync(join(folder, 'conf'), `ca-trust-file = "${authority.file}"\n${configuration!}`)
    for (const [ipv4, ipv6] of [
      ['192.0.2.7', '2001:db8::7'],
      ['198.51.100.8', '2001:db8:1::8'],
    ] as const) {
      Object.assign(front.addresses, { IPv4: ipv4, IPv6: ipv6 })
      await inadyn(t, folder)
      for (const host of ['home', 'nas']) {
        await domain.serves(t, `${host}.${domain.name}`, 'A', [ipv4])
        await domain.serves(t, `${host}.${domain.name}`, 'AAAA', [ipv6])
      }
    }
    await domain.isValid(t)
  })
}
