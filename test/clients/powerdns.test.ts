import type { ExecutionContext } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { succeeded as created } from '../support/clients/api.ts'
import { needs } from '../support/needs.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { build, lackOfGo, newModule } from './support/go.ts'
import { run, shell, succeeded } from './support/programs.ts'
import { installPython } from './support/python.ts'

// Libraries and tools for PowerDNS' API, at ours.

const place = usePlace()

/** Our programs, which use them. */
const PROGRAMS = join(projectFolder(), 'test', 'clients', 'powerdns')

/** What is none of external-dns' business, at a name of its own. */
const FOREIGN = { subname: 'other', type: 'A', ttl: 3600, records: ['192.0.2.9'] }

test('python-powerdns does what its document says, and handles zones and RRsets', async (t) => {
  const { service, servers, front } = place()
  const PATH = await installPython(t, ['python-powerdns', 'requests'])
  const domain = await Domain.create(place(), 'documented.test')
  const changes = { 'https://dns.example.net': service.url, 'example.org': domain.name }
  const [documented] = blocks('docs/clients.md', 'python-powerdns', changes)
  const env = { PATH, TOKEN: servers.owner.secret }
  succeeded(t, await run('python', ['-c', `import os\ntoken = os.environ['TOKEN']\n${documented!}`], { env }))
  await domain.serves(t, `www.${domain.name}`, 'A', ['192.0.2.1'])
  const folder = newFolder()
  const walk = [join(PROGRAMS, 'walk.py'), `${service.url}/api/v1`, 'python.test.']
  for (const line of succeeded(t, await run('python', walk, { env, folder }))
    .trim()
    .split('\n'))
    t.log(line)
  for (const line of front.requests.splice(0)) t.log(line)
})

test('powerdns-cli adds a zone, and adds, replaces and deletes its records', async (t) => {
  const { servers, authority, front } = place()
  const PATH = await installPython(t, ['powerdns-cli'])
  const env = { PATH, TOKEN: servers.owner.secret, REQUESTS_CA_BUNDLE: authority.file }
  const [commands] = blocks('docs/clients.md', 'powerdns-cli', {
    'https://dns.example.net': `https://${front.host}`,
    'example.org': 'cli.test',
  })
  succeeded(t, await shell(commands!, { env }))
  const domain = await Domain.find(place(), 'cli.test')
  await domain.serves(t, 'www.cli.test', 'A', ['192.0.2.1'])
  const cli = async (command: string) => {
    const own = { POWERDNS_CLI_URL: `https://${front.host}`, POWERDNS_CLI_APIKEY: servers.owner.secret }
    return succeeded(t, await shell(`powerdns-cli ${command}`, { env: { ...env, ...own } }))
  }
  await cli('record add www cli.test A 192.0.2.2 --ttl 3600')
  await domain.serves(t, 'www.cli.test', 'A', ['192.0.2.1', '192.0.2.2'])
  await cli('record replace www cli.test A 192.0.2.3 --ttl 300')
  await domain.serves(t, 'www.cli.test', 'A', ['192.0.2.3'])
  t.regex(await cli('record export cli.test --json'), /192\.0\.2\.3/)
  t.regex(await cli('zone list --json'), /cli\.test\./)
  await cli('zone rectify cli.test')
  await cli('record delete www cli.test A 192.0.2.3 --ttl 300')
  await domain.serves(t, 'www.cli.test', 'A', [])
  await cli('zone delete cli.test --force')
  for (const line of front.requests.splice(0)) t.log(line)
})

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

/** Builds our program with external-dns' packages. */
async function buildExternalDns(t: ExecutionContext): Promise<string> {
  const sources = join(projectFolder(), 'test', 'clients', 'external-dns')
  return build(await newModule(t, sources, ['sigs.k8s.io/external-dns@v0.22.0']))
}
