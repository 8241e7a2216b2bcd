import test, { type ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { type Outcome, run, succeeded } from './support/programs.ts'

const place = usePlace()

/** ddclient with one of the documented configurations, in its own folder. */
class Ddclient {
  readonly #folder = newFolder()
  readonly #arguments: string[]

  constructor(configuration: string) {
    const at = (name: string) => join(this.#folder, name)
    writeFileSync(at('conf'), configuration, { mode: 0o600 })
    this.#arguments = ['-file', at('conf'), '-cache', at('cache'), '-pid', at('pid'), '-daemon', '0', '-noquiet']
  }

  /** Runs it once, and logs its output and its requests. */
  async run(t: ExecutionContext, ...more: string[]): Promise<Outcome> {
    const { front, authority } = place()
    const before = front.requests.length
    const env = { CURL_CA_BUNDLE: authority.file }
    const outcome = await run('ddclient', [...this.#arguments, ...more], { folder: this.#folder, env })
    for (const line of [...front.requests.slice(before), ...outcome.output.trim().split('\n')]) t.log(line)
    return outcome
  }
}

/** The documented configurations for IPv4 and IPv6. */
function configurations(domain: Domain, secret: string): string[] {
  const { front, authority } = place()
  return blocks('docs/clients.md', 'ddclient 3.10', {
    'ssl=yes': `ssl=yes\nssl_ca_file=${authority.file}`,
    'https://dns.example.net': `https://${front.host}`,
    // ddclient refuses host names without a dot.
    'dns.example.net': front.host.replace('localhost', '127.0.0.1'),
    'example.org': domain.name,
    $TOKEN: secret,
  })
}

test.serial('ddclient updates IPv4 and IPv6 addresses of two names separately', async (t) => {
  const { servers, front } = place()
  const domain = await Domain.create(place(), 'ddclient.test')
  const [ipv4, ipv6] = configurations(domain, servers.owner.secret).map((each) => new Ddclient(each)) as [
    Ddclient,
    Ddclient,
  ]
  const names = ['home', 'nas'].map((host) => `${host}.${domain.name}`)

  const said = succeeded(t, await ipv4.run(t))
  for (const name of names) {
    t.true(said.includes(`SUCCESS:  updating ${name}: good: IP address set to 192.0.2.7`), said)
    await domain.serves(t, name, 'A', ['192.0.2.7'])
    await domain.serves(t, name, 'AAAA', [])
  }
  succeeded(t, await ipv6.run(t))
  for (const name of names) {
    await domain.serves(t, name, 'A', ['192.0.2.7'])
    await domain.serves(t, name, 'AAAA', ['2001:db8::7'])
  }

  front.addresses.IPv4 = '198.51.100.8'
  succeeded(t, await ipv4.run(t, '-force'))
  for (const name of names) {
    await domain.serves(t, name, 'A', ['198.51.100.8'])
    await domain.serves(t, name, 'AAAA', ['2001:db8::7'])
  }
  await domain.isValid(t)
})

test.serial('ddclient with a wrong password reports it and changes nothing', async (t) => {
  const domain = await Domain.create(place(), 'refused.test')
  const { code, output } = await new Ddclient(configurations(domain, 'no-token-at-all')[0]!).run(t)
  t.is(code, 1)
  t.regex(output, /^FAILED: +updating home\.refused\.test,nas\.refused\.test: authorization failed \(HTTP\/1\.1 401 /)
  await domain.serves(t, `home.${domain.name}`, 'A', [])
})
