import test, { type ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { shell, succeeded } from './support/programs.ts'
import { installPython } from './support/python.ts'

const place = usePlace()

/** Lets dnspython, which Lexicon finds the zone with, ask our nameserver instead of those in /etc/resolv.conf. */
const RESOLVER = (host: string, port: number) => `import dns.resolver
dns.resolver.default_resolver = dns.resolver.Resolver(configure=False)
dns.resolver.default_resolver.nameservers = ['${host}']
dns.resolver.default_resolver.port = ${port}
`

/** Creates, lists, updates and deletes records of a new domain, by a documented command that lists. */
async function walk(t: ExecutionContext, name: string, list: string) {
  const { servers, authority, front } = place()
  const PATH = await installPython(t, ['dns-lexicon'])
  const folder = newFolder()
  writeFileSync(join(folder, 'sitecustomize.py'), RESOLVER(servers.powerDns.dnsHost, servers.powerDns.dnsPort))
  const env = { PATH, TOKEN: servers.owner.secret, PYTHONPATH: folder, REQUESTS_CA_BUNDLE: authority.file }
  const domain = await Domain.create(place(), name)
  const lexicon = async (action: string) => {
    const outcome = await shell(list.replace('list example.org A', action.replace('NAME', name)), { folder, env })
    for (const request of front.requests.splice(0)) t.log(request)
    const said = succeeded(t, outcome)
    t.log(`lexicon ${action}: ${said.trim()}`)
    return said
  }

  await lexicon('create NAME A --name www --content 192.0.2.1')
  await lexicon('create NAME A --name www --content 192.0.2.2')
  await domain.serves(t, `www.${name}`, 'A', ['192.0.2.1', '192.0.2.2'])
  t.true((await lexicon('list NAME A')).includes(`www.${name} 192.0.2.2 3600`))
  await lexicon('create NAME TXT --name _acme-challenge --content token')
  await domain.serves(t, `_acme-challenge.${name}`, 'TXT', ['"token"'])
  await lexicon('delete NAME A --name www --content 192.0.2.1')
  await domain.serves(t, `www.${name}`, 'A', ['192.0.2.2'])
  return { domain, lexicon }
}

test.serial('Lexicon creates, lists, updates and deletes records', async (t) => {
  const { authority, front } = place()
  const [list] = blocks('docs/clients.md', 'Lexicon', {
    'http://proxy.example.net:3128': front.proxyUrl,
    'ca.pem': authority.file,
  })
  const { domain, lexicon } = await walk(t, 'lexicon.test', list!)
  await lexicon('update NAME TXT --name _acme-challenge --content other --ttl 7200')
  await domain.serves(t, '_acme-challenge.lexicon.test', 'TXT', ['"other"'])
  await lexicon('create NAME MX --name lexicon.test --content mail.example. --priority 10')
  await domain.serves(t, 'lexicon.test', 'MX', ['10 mail.example.'])
  await lexicon('delete NAME TXT --name _acme-challenge')
  await domain.serves(t, '_acme-challenge.lexicon.test', 'TXT', [])
  await domain.isValid(t)
})

test.serial("Lexicon does so by PowerDNS' API", async (t) => {
  const [, list] = blocks('docs/clients.md', 'Lexicon', { 'https://dns.example.net': `https://${place().front.host}` })
  const { domain, lexicon } = await walk(t, 'lexpower.test', list!)
  const identifier = 'TXT/_acme-challenge.lexpower.test.=\\"token\\"'
  await lexicon(`update NAME TXT --identifier "${identifier}" --name _acme-challenge --content other`)
  await domain.serves(t, '_acme-challenge.lexpower.test', 'TXT', ['"other"'])
  await lexicon('delete NAME TXT --name _acme-challenge')
  await domain.serves(t, '_acme-challenge.lexpower.test', 'TXT', [])
  await domain.isValid(t)
})
