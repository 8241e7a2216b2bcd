import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../src/installation/project.ts'
import { succeeded as created } from '../../support/clients/api.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { Domain, usePlace } from '../support/clients.ts'
import { blocks } from '../support/documents.ts'
import { build, lackOfGo, newModule } from '../support/go.ts'
import { buildExternalDns } from '../support/modules.ts'
import { run, shell, succeeded } from '../support/programs.ts'

// Libraries in Go for PowerDNS' API, at ours.

const place = usePlace()

/** Our programs, which use them. */
const PROGRAMS = join(projectFolder(), 'test', 'clients', 'powerdns')

/** What is none of external-dns' business, at a name of its own. */
const FOREIGN = { subname: 'other', type: 'A', ttl: 3600, records: ['192.0.2.9'] }

needs(lackOfGo(), test)('the Go libraries of external-dns and dnscontrol handle zones and RRsets', async (t) => {
  const { service, servers } = place()
  const libraries = ['github.com/joeig/go-powerdns/v3@v3.23.0', 'github.com/mittwald/go-powerdns@v0.6.7']
  const program = await build(await newModule(t, PROGRAMS, libraries))
  const said = succeeded(t, await run(program, [service.url, 'go.test.'], { env: { TOKEN: servers.owner.secret } }))
  for (const line of said.trim().split('\n')) t.log(line)
})

needs(lackOfGo(), test)(
  'external-dns creates, changes and deletes the records of its sources, with a token for their names',
  async (t) => {
    const { service, authority, front } = place()
    const program = await buildExternalDns(t)
    const domain = await Domain.create(place(), 'cluster.test')
    created(await service.api.post(`/domains/${domain.name}/rrsets/`, FOREIGN), 201)
    const folder = newFolder()
    const [command] = blocks('docs/clients.md', "external-dns with PowerDNS' API", {
      'external-dns ': `${program} `,
      'https://dns.example.net': `https://${front.host}`,
      'example.org': domain.name,
    })
    const TOKEN = await domain.tokenFor({ subname_pattern: '**.k8s' }, 'A', 'AAAA', 'CNAME', 'TXT')
    const env = { TOKEN, SSL_CERT_FILE: authority.file, RECORDS: join(folder, 'records.json') }
    const sync = async (endpoints: unknown[]) => {
      writeFileSync(env.RECORDS, JSON.stringify(endpoints))
      return succeeded(t, await shell(command!, { folder, env }))
    }
    const host = (recordType: string, targets: string[], name = 'www.k8s') => ({
      dnsName: `${name}.${domain.name}`,
      recordType,
      targets,
    })
    const records = [
      host('A', ['192.0.2.1', '192.0.2.2']),
      host('AAAA', ['2001:db8::1']),
      host('CNAME', ['lb.example.net'], 'app.k8s'),
    ]
    t.regex(await sync(records), /^create 3, update 0, delete 0$/m)
    await domain.serves(t, `www.k8s.${domain.name}`, 'A', ['192.0.2.1', '192.0.2.2'])
    await domain.serves(t, `app.k8s.${domain.name}`, 'CNAME', ['lb.example.net.'])
    t.regex(await sync(records), /^create 0, update 0, delete 0$/m)
    t.regex(await sync([host('A', ['192.0.2.3'])]), /^create 0, update 1, delete 2$/m)
    await domain.serves(t, `www.k8s.${domain.name}`, 'A', ['192.0.2.3'])
    t.regex(await sync([]), /^create 0, update 0, delete 1$/m)
    for (const line of front.requests.splice(0)) t.log(line)
    const left = created(await service.api.get(`/domains/${domain.name}/rrsets/`), 200).json as { type: string }[]
    t.deepEqual(left.map(({ type }) => type).sort(), ['A', 'NS'])
    await domain.isValid(t)
  },
)
