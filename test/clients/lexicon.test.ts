import test from 'ava'
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

test.serial('Lexicon creates, lists, updates and deletes records', async (t) => {
  const { servers, authority, front } = place()
  const PATH = await installPython(t, ['dns-lexicon'])
  const [list] = blocks('docs/clients.md', 'Lexicon', {
    'http://proxy.example.net:3128': front.proxyUrl,
    'ca.pem': authority.file,
  })
  const folder = newFolder()
  writeFileSync(join(folder, 'sitecustomize.py'), RESOLVER(servers.powerDns.dnsHost, servers.powerDns.dnsPort))
  const env = { PATH, TOKEN: servers.owner.secret, PYTHONPATH: folder }
  const domain = await Domain.create(place(), 'lexicon.test')
  const lexicon = async (action: string) => {
    const outcome = await shell(list!.replace('list example.org A', action), { folder, env })
    for (const request of front.requests.splice(0)) t.log(request)
    const said = succeeded(t, outcome)
    t.log(`lexicon ${action}: ${said.trim()}`)
    return said
  }

  await lexicon('create lexicon.test A --name www --content 192.0.2.1')
  await lexicon('create lexicon.test A --name www --content 192.0.2.2')
  await domain.serves(t, 'www.lexicon.test', 'A', ['192.0.2.1', '192.0.2.2'])
  t.regex(await lexicon('list lexicon.test A'), /www\.lexicon\.test 192\.0\.2\.2 3600/)
  await lexicon('create lexicon.test TXT --name _acme-challenge --content token')
  await domain.serves(t, '_acme-challenge.lexicon.test', 'TXT', ['"token"'])
  await lexicon('update lexicon.test TXT --name _acme-challenge --content other --ttl 7200')
  await domain.serves(t, '_acme-challenge.lexicon.test', 'TXT', ['"other"'])
  await lexicon('create lexicon.test MX --name lexicon.test --content mail.example. --priority 10')
  await domain.serves(t, 'lexicon.test', 'MX', ['10 mail.example.'])
  await lexicon('delete lexicon.test A --name www --content 192.0.2.1')
  await domain.serves(t, 'www.lexicon.test', 'A', ['192.0.2.2'])
  await lexicon('delete lexicon.test TXT --name _acme-challenge')
  await domain.serves(t, '_acme-challenge.lexicon.test', 'TXT', [])
  await domain.isValid(t)
})
