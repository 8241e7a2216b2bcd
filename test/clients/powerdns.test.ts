import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { run, shell, succeeded } from './support/programs.ts'
import { installPython } from './support/python.ts'

// Libraries and tools for PowerDNS' API, at ours.

const place = usePlace()

/** Our programs, which use them. */
const PROGRAMS = join(projectFolder(), 'test', 'clients', 'powerdns')

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
