import test from 'ava'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { findPorts, HOST } from '../../src/private-servers/ports.ts'
import { Client } from '../support/clients/client.ts'
import { ask } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { type Program, startProgram } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'

// What the image `ci` does when it is built and when it starts, in a folder instead of a container.

/** initdb needs a user with a name. */
const NOBODY = 65_534

const image = newFolder()
const compiled = join(image, 'compiled')

/** Runs a script of the image as this user, if this is root. */
function script(name: string, uid: number, env: NodeJS.ProcessEnv = {}): Program {
  const file = join(image, 'ci', name)
  const all = { PATH: process.env['PATH'], ZONEPLANE_INSTALL: 'no', NODE_COMPILE_CACHE: compiled, ...env }
  return process.getuid?.() === 0
    ? startProgram('setpriv', [`--reuid=${uid}`, '--regid=0', '--clear-groups', '--pdeathsig=TERM', file], all)
    : startProgram(file, [], all)
}

test.before('the image is built', async (t) => {
  for (const part of ['build', 'node_modules', 'package.json'])
    symlinkSync(join(projectFolder(), part), join(image, part))
  cpSync(join(projectFolder(), 'ci'), join(image, 'ci'), { recursive: true })
  chmodSync(image, 0o777)
  const { dns, api } = await findPorts({ dns: 0, api: 0 }, [HOST])
  mkdirSync(compiled)
  if (process.getuid?.() === 0) chownSync(compiled, NOBODY, 0)
  const { ended, output } = script('prepare.sh', NOBODY, { PORT: String(api), DNS_PORT: String(dns) })
  t.is(await ended, 0, output())
})

test('the prepared data folder has no secret and no log', (t) => {
  const prepared = join(image, 'prepared')
  t.true(existsSync(join(prepared, 'postgres', 'data', 'PG_VERSION')))
  for (const name of ['token', 'key-encryption-key', 'running.json', 'pdns/config', 'pdns/log', 'postgres/log'])
    t.false(existsSync(join(prepared, name)), name)
})

test('the container starts as a user without a name, from the prepared folder, and again with its own data', async (t) => {
  const folder = newFolder()
  chmodSync(folder, 0o777)
  const { dns, api } = await findPorts({ dns: 0, api: 0 }, [HOST])
  const env = {
    PORT: String(api),
    DNS_PORT: String(dns),
    ZONEPLANE_DATA: folder,
    ZONEPLANE_TOKEN: 'a-token-for-this-test',
  }
  for (const created of [201, 400]) {
    const { child, ended, output } = script('start.sh', 54_321, env)
    await eventually(() => apiUrl(output()))
    t.false(output().includes('making a database'))
    const { ended: isReady } = startProgram(join(image, 'ci', 'ready.sh'), [], { PORT: String(api) })
    t.is(await isReady, 0)
    const { answers } = await ask({ dnsHost: HOST, dnsPort: dns }, 'example.test', 'SOA')
    t.deepEqual(answers.map(({ type }) => type).sort(), ['RRSIG', 'SOA'])
    const client = new Client(apiUrl(output())!, 'a-token-for-this-test')
    t.is((await client.post('/domains/', { name: 'kept.example' })).status, created)
    child.kill('SIGTERM')
    t.is(await ended, 0)
  }
  const { ended } = startProgram(join(image, 'ci', 'ready.sh'), [], { PORT: String(api) })
  t.is(await ended, 1, 'it is not ready once it has stopped')
})

test('the image checks its health by the script, and starts by the other one under a reaper', (t) => {
  const text = readFileSync(join(projectFolder(), 'Dockerfile'), 'utf8')
  t.regex(text, /^HEALTHCHECK .*CMD \["\/zoneplane\/ci\/ready\.sh"\]$/m)
  t.regex(text, /^ENTRYPOINT \["tini", "--", "\/zoneplane\/ci\/start\.sh"\]$/m)
})
