import type { ExecutionContext } from 'ava'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { shell, succeeded } from './support/programs.ts'
import { usePython } from './support/python.ts'

const place = usePlace()
const path = usePython(['octodns', 'octodns-desec', 'octodns-powerdns'])

/** A zone with every type that octodns-desec knows. */
const ZONE = `
'':
  - {type: A, values: [192.0.2.1, 192.0.2.2]}
  - {type: AAAA, value: '2001:db8::1'}
  - {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}
  - {type: MX, value: {exchange: mail.octodns.test., preference: 10}}
  - {type: NS, values: [ns1.example.net., ns2.example.net.]}
  - {type: TXT, values: ['v=DMARC1\\; p=none', '${'long '.repeat(80)}end']}
1.reverse: {type: PTR, value: host.octodns.test.}
'*': {type: CNAME, value: octodns.test.}
_443._tcp.www:
  type: TLSA
  value:
    {certificate_association_data: ${'ab'.repeat(32)}, certificate_usage: 3, matching_type: 1, selector: 1}
_sip._udp: {type: SRV, value: {port: 5060, priority: 10, target: sip.octodns.test., weight: 20}}
child:
  - {type: DS, value: {algorithm: 13, digest: ${'cd'.repeat(32)}, digest_type: 2, key_tag: 12345}}
  - {type: NS, values: [ns1.example.net., ns2.example.net.]}
sip: {type: SSHFP, value: {algorithm: 4, fingerprint: ${'ef'.repeat(32)}, fingerprint_type: 2}}
www: {ttl: 300, type: HTTPS, value: {svcparams: {alpn: [h2, h3], port: 8443}, svcpriority: 1, targetname: .}}
`

/** Runs the documented command, and asserts that it creates the domain with these NS, and that its second plan is empty. */
async function creates(
  t: ExecutionContext,
  {
    name,
    nameservers,
    folder,
    command,
  }: Record<'name' | 'folder' | 'command', string> & {
    nameservers: string[]
  },
) {
  const { service, servers, authority, front } = place()
  const zone = ZONE.replaceAll('octodns.test', name).replace(
    '[ns1.example.net., ns2.example.net.]',
    `[${nameservers.join(', ')}]`,
  )
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zones', `${name}.yaml`), zone)
  const env = { PATH: path(), TOKEN: servers.owner.secret, REQUESTS_CA_BUNDLE: authority.file }
  const sync = async () => succeeded(t, await shell(command, { folder, env }))

  t.regex(await sync(), /^\* {3}Summary: Creates=14, Updates=0, Deletes=0/m)
  const domain = await Domain.find(place(), name)
  await domain.serves(t, domain.name, 'A', ['192.0.2.1', '192.0.2.2'])
  await domain.serves(t, domain.name, 'NS', nameservers)
  await domain.serves(t, `www.${domain.name}`, 'HTTPS', ['1 . alpn="h2,h3" port=8443'])
  await domain.isValid(t)

  const before = (await service.api.get(`/domains/${domain.name}/`)).text
  t.regex(await sync(), /^No changes were planned$/m)
  t.is((await service.api.get(`/domains/${domain.name}/`)).text, before)
  for (const line of front.requests.splice(0)) t.log(line)
}

test('octoDNS creates a domain with all types that octodns-desec knows, and its second plan is empty', async (t) => {
  const folder = newFolder()
  const [module, config, command] = blocks('docs/clients.md', 'octoDNS', { 'dns.example.net': place().front.host })
  writeFileSync(join(folder, 'zoneplane.py'), module!)
  writeFileSync(join(folder, 'config.yaml'), config!)
  const nameservers = ['ns1.example.net.', 'ns2.example.net.']
  await creates(t, { name: 'octodns.test', nameservers, folder, command: command! })
})

test('octodns-powerdns creates a domain with these types and the NS of the service, and its second plan is empty', async (t) => {
  const folder = newFolder()
  const [host, port] = place().front.host.split(':')
  const changes = { 'dns.example.net': host!, 'port: 443': `port: ${port!}` }
  const [config, command] = blocks('docs/clients.md', "octoDNS with PowerDNS' API", changes)
  writeFileSync(join(folder, 'config.yaml'), config!)
  const nameservers = ['ns1.zoneplane.test.', 'ns2.zoneplane.test.']
  await creates(t, { name: 'octopower.test', nameservers, folder, command: command! })
})
