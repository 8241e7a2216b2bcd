import type { ExecutionContext } from 'ava'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { recallServers, rememberServers } from '../../src/private-servers/data-folder.ts'
import { query } from '../../src/store/database.ts'
import { ask } from '../support/dns/dns.ts'
import { transferred } from '../support/dns/wire.ts'
import { eventually, eventuallyHas } from '../support/eventually.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { openPatiently } from '../support/servers/postgres/databases.ts'
import { type Program, runOurs, startOurs, startProgram } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'
import { processes } from './processes.ts'

/** The data folder of services that start one after the other: each start costs seconds, and the first one most. */
const folder = newFolder()
const keyFile = join(folder, 'key-encryption-key')
const cli = join(projectFolder(), 'build', 'src', 'cli.js')

const privately = (data: string) => ({
  PATH: process.env['PATH'],
  PORT: '0',
  DNS_PORT: '0',
  ZONEPLANE_DATA: data,
})

/** Starts a service in the folder, and waits until it is ready. */
async function start(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Program> {
  const program = startOurs(['start', ...args], { ...privately(folder), ...env })
  await eventually(() => apiUrl(program.output()))
  return program
}

/** Checks that the private servers wait for the disk, or do not. */
async function checkDurability(t: ExecutionContext, isDurable: boolean): Promise<void> {
  const db = openPatiently(recallServers(folder)!['DATABASE_URL']!, 1)
  t.deepEqual(await query(db, 'show fsync'), [{ fsync: isDurable ? 'on' : 'off' }])
  await db.end()
  const settings = readFileSync(join(folder, 'pdns', 'config', 'pdns.conf'), 'utf8')
  t.is(settings.includes('lmdb-sync-mode=nosync'), !isDurable)
}

let first: Program
let key: string

test.before('a service in an empty folder', async () => {
  first = await start({ DNS_HOST: '127.0.0.2, 127.0.0.3', DURABLE: 'on' })
  key = readFileSync(keyFile, 'utf8')
})

test('only the owner can read the key that encrypts secrets, and who reaches the servers', (t) => {
  t.is(Buffer.from(key, 'base64').length, 32)
  for (const file of [keyFile, join(folder, 'running.json')]) t.is(statSync(file).mode & 0o777, 0o600)
  t.false(first.output().includes(key.trim()))
})

test('without a terminal, the log has no token of its own, but says where it is', (t) => {
  t.regex(first.output(), /^ {2}Token {2}\$\(cat '.*\/token'\)$/m)
  t.false(first.output().includes(readFileSync(join(folder, 'token'), 'utf8').trim()))
})

test('the first line after its greeting names the address to open, and that the token signs in there', (t) => {
  const url = apiUrl(first.output())!
  t.true(first.output().includes(`Zoneplane is ready.\n\n  Open   ${url}/#token and sign in with the token\n  Token  `))
})

test('the private PowerDNS answers on all addresses of DNS_HOST', async (t) => {
  const [, host, port] = /^ {2}DNS {4}(\S+) port (\d+)$/m.exec(first.output())!
  t.is(host, '127.0.0.2')
  for (const dnsHost of ['127.0.0.2', '127.0.0.3']) {
    const { rcode } = await ask({ dnsHost, dnsPort: Number(port) }, 'example.test', 'SOA')
    t.is(rcode, 'NOERROR')
  }
  await t.throwsAsync(once(connect(Number(port), '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
})

test('by default, the private PowerDNS lets no program of this machine transfer a zone', async (t) => {
  const [, dnsHost, port] = /^ {2}DNS {4}(\S+) port (\d+)$/m.exec(first.output())!
  await t.throwsAsync(transferred({ dnsHost: dnsHost!, dnsPort: Number(port) }, 'example.test'), {
    message: 'transfer of example.test: NOTAUTH',
  })
})

test('with DURABLE=on, the private servers wait for the disk', async (t) => {
  await checkDurability(t, true)
})

test('a second Ctrl-C does not disturb the orderly stop; the command line finds private servers until then', async (t) => {
  const env = { PATH: process.env['PATH'], ZONEPLANE_DATA: folder }
  const [list, reconcile] = [startOurs(['account', 'list', '--json'], env), startOurs(['reconcile'], env)]
  t.is(await list.ended, 0)
  t.like((JSON.parse(list.output()) as unknown[])[0], { email: 'demo@example.test', domains: 1 })
  t.is(await reconcile.ended, 0)
  t.is(reconcile.output(), 'All zones are as the database says.\n')
  first.child.kill('SIGINT')
  await eventuallyHas(first.output, 'SIGINT: stopping')
  first.child.kill('SIGINT')
  t.is(await first.ended, 0)
  t.deepEqual(processes(folder), [undefined, undefined])
  t.false(existsSync(join(folder, 'running.json')))
  const late = startOurs(['account', 'list'], env)
  t.is(await late.ended, 1)
  t.is(
    late.output(),
    `zoneplane: no servers to work on: DATABASE_URL, PDNS_API_URL and PDNS_API_KEY are not set, and no service runs with private servers in ${folder}\n`,
  )
})

test('a second start keeps the key, and does not log the token of the environment', async (t) => {
  const secret = 'a-secret-token'
  const { child, ended, output } = await start({ ZONEPLANE_TOKEN: secret, DURABLE: 'off' })
  t.is(readFileSync(keyFile, 'utf8'), key)
  await checkDurability(t, false)
  child.kill('SIGTERM')
  t.is(await ended, 0)
  t.regex(output(), /^ {2}Token {2}\$ZONEPLANE_TOKEN$/m)
  t.false(output().includes(secret) || output().includes(key.trim()))
})

test('if a private server ends by itself, the service stops, says which, and exits with code 1', async (t) => {
  const { ended, output } = await start({})
  process.kill(processes(folder)[1]!.pid, 'SIGKILL')
  t.is(await ended, 1)
  t.regex(output(), /^zoneplane: PowerDNS has ended by itself: stopping$/m)
  t.deepEqual(processes(folder), [undefined, undefined])
})

test('if nobody reads the output any more, the service stops cleanly', async (t) => {
  const { child, ended, output } = startOurs(['start'], privately(folder))
  // It has more to say.
  child.stdout.once('data', () => child.stdout.destroy())
  t.is(await ended, 0)
  t.notRegex(output(), /EPIPE|^\s+at /m)
  t.deepEqual(processes(folder), [undefined, undefined])
})

test('a fresh start makes a new key; if npm is killed, the service and its private servers stop', async (t) => {
  const command = 'exec "$0" --enable-source-maps "$1" start --fresh'
  const parent = startProgram('sh', ['-c', `sh -c '${command}' "$0" "$1"; true`, process.execPath, cli], {
    ...privately(folder),
    npm_lifecycle_event: 'start',
  })
  await eventually(() => apiUrl(parent.output()))
  t.not(readFileSync(keyFile, 'utf8'), key)
  parent.child.kill('SIGKILL')
  await parent.ended
  t.regex(parent.output(), /^zoneplane: the parent process has ended: stopping$/m)
  t.deepEqual(processes(folder), [undefined, undefined])
})

test('--ci ends with the process that has started it, and leaves nothing; neither does a start that fails', async (t) => {
  const tmp = newFolder()
  const command = ['-c', '"$0" --enable-source-maps "$1" --ci; true', process.execPath, cli]
  const env = { ...privately(folder), ZONEPLANE_DATA: '', TMPDIR: tmp }
  const parent = startProgram('sh', command, env)
  await eventually(() => apiUrl(parent.output()))
  t.not(readdirSync(tmp).length, 0)
  parent.child.kill('SIGKILL')
  await parent.ended
  t.regex(parent.output(), /^zoneplane: the parent process has ended: stopping$/m)
  t.deepEqual(readdirSync(tmp), [])
  for (const wrong of [{ MINIMUM_TTL: '0' }, { ZONEPLANE_SEED: '/absent.yaml' }]) {
    t.not(await startProgram(process.execPath, [cli, '--ci'], { ...env, ...wrong }).ended, 0)
    t.deepEqual(readdirSync(tmp), [])
  }
})

test('`zoneplane start` has a help; after a wrong option it names that, and the exit code is 2', async (t) => {
  const [helped, help] = await runOurs(['start', '--help'], privately(newFolder()))
  t.is(helped, 0)
  t.regex(help, /^Usage: zoneplane start/)
  const [code, wrong] = await runOurs(['start', '--bogus'], privately(newFolder()))
  t.is(code, 2)
  t.regex(wrong, /^zoneplane: unknown option '--bogus'/)
  t.regex(wrong, /--help/)
  t.notRegex(wrong, /^\s+at /m)
})

test('`zoneplane --version` prints the version of package.json', async (t) => {
  const [code, output] = await runOurs(['--version'], {})
  t.is(code, 0)
  const { version } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8')) as { version: string }
  t.is(output, `${version}\n`)
})

test('servers of the environment are used, not those of a running service', async (t) => {
  const other = newFolder()
  rememberServers(other, { DATABASE_URL: 'postgres://127.0.0.1:1/wrong' })
  const env = {
    PATH: process.env['PATH'],
    ZONEPLANE_DATA: other,
    PDNS_API_URL: 'http://127.0.0.1:1',
    PDNS_API_KEY: 'k',
  }
  const [code, output] = await runOurs(['account', 'list'], { ...env, NAMESERVERS: 'ns1.example.test' })
  t.is(code, 1)
  t.regex(output, /^zoneplane: DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set/)
})

test('an address that the machine lacks is named', async (t) => {
  const [code, output] = await runOurs(['start'], { ...privately(newFolder()), DNS_HOST: '192.0.2.1' })
  t.is(code, 1)
  t.regex(output, /^zoneplane: 192\.0\.2\.1 is no address of this machine\. Set DNS_HOST to/m)
})
