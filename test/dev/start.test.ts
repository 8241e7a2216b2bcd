import test from 'ava'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { projectFolder } from '../../dev/project.ts'
import { recallServers, rememberServers } from '../../src/data-folder.ts'
import { openDatabase, query } from '../../src/store/database.ts'
import { ask } from '../support/dns/dns.ts'
import { eventually, eventuallyHas } from '../support/eventually.ts'
import { processes } from './processes.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startOurs, startProgram } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'

const privately = (folder: string) => ({
  PATH: process.env['PATH'],
  PORT: '0',
  DNS_PORT: '0',
  ZONEPLANE_DATA: folder,
})

test.serial(
  'with private servers, the key that encrypts secrets is made once, and only its owner can read it',
  async (t) => {
    const folder = newFolder()
    const file = join(folder, 'key-encryption-key')
    const start = async (...args: string[]) => {
      const { child, ended, output } = startOurs(['start', ...args], privately(folder))
      await eventually(() => apiUrl(output()))
      const key = readFileSync(file, 'utf8')
      child.kill('SIGTERM')
      t.is(await ended, 0)
      t.false(output().includes(key.trim()))
      return key
    }
    const key = await start()
    t.is(Buffer.from(key, 'base64').length, 32)
    t.is(statSync(file).mode & 0o777, 0o600)
    t.is(await start(), key)
    t.not(await start('--fresh'), key)
  },
)

test.serial('if a private server ends by itself, the service stops, says which, and exits with code 1', async (t) => {
  const folder = newFolder()
  const { ended, output } = startOurs(['start'], privately(folder))
  await eventually(() => apiUrl(output()))
  process.kill(processes(folder)[1]!.pid, 'SIGKILL')
  t.is(await ended, 1)
  t.regex(output(), /^zoneplane: PowerDNS has ended by itself: stopping$/m)
  t.deepEqual(processes(folder), [undefined, undefined])
})

for (const [what, env, shown] of [
  ['of its own', {}, /^ {2}Token {2}\$\(cat '.*\/token'\)$/m],
  ['of the environment', { ZONEPLANE_TOKEN: 'a-secret-token' }, /^ {2}Token {2}\$ZONEPLANE_TOKEN$/m],
] as const) {
  test.serial(`without a terminal, the log has no token ${what}, but says where it is`, async (t) => {
    const folder = newFolder()
    const { child, ended, output } = startOurs(['start'], { ...privately(folder), ...env })
    await eventually(() => apiUrl(output()))
    child.kill('SIGTERM')
    t.is(await ended, 0)
    t.regex(output(), shown)
    const secret = env.ZONEPLANE_TOKEN ?? readFileSync(join(folder, 'token'), 'utf8').trim()
    t.false(output().includes(secret))
  })
}

test.serial('`zoneplane start` has a help; after a wrong option it names that, and the exit code is 1', async (t) => {
  const help = startOurs(['start', '--help'], privately(newFolder()))
  t.is(await help.ended, 0)
  t.regex(help.output(), /^Usage: zoneplane start/)
  const wrong = startOurs(['start', '--bogus'], privately(newFolder()))
  t.is(await wrong.ended, 1)
  t.regex(wrong.output(), /^zoneplane: unknown option '--bogus'/)
  t.regex(wrong.output(), /--help/)
  t.notRegex(wrong.output(), /^\s+at /m)
})

test.serial('`zoneplane --version` prints the version of package.json', async (t) => {
  const { ended, output } = startOurs(['--version'], {})
  t.is(await ended, 0)
  const { version } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8')) as { version: string }
  t.is(output(), `${version}\n`)
})

test.serial(
  'the command line finds the private servers of a running service, and none when it has stopped',
  async (t) => {
    const folder = newFolder()
    const { child, ended, output } = startOurs(['start'], privately(folder))
    await eventually(() => apiUrl(output()))
    t.is(statSync(join(folder, 'running.json')).mode & 0o777, 0o600)
    const env = { PATH: process.env['PATH'], ZONEPLANE_DATA: folder }
    const list = startOurs(['account', 'list', '--json'], env)
    t.is(await list.ended, 0)
    t.like((JSON.parse(list.output()) as unknown[])[0], { email: 'demo@example.test', domains: 1 })
    const reconcile = startOurs(['reconcile'], env)
    t.is(await reconcile.ended, 0)
    t.is(reconcile.output(), 'All zones are as the database says.\n')
    child.kill('SIGTERM')
    t.is(await ended, 0)
    const late = startOurs(['account', 'list'], env)
    t.is(await late.ended, 1)
    t.is(
      late.output(),
      `zoneplane: no servers to work on: DATABASE_URL, PDNS_API_URL and PDNS_API_KEY are not set, and no service runs with private servers in ${folder}\n`,
    )
  },
)

test.serial('servers of the environment are used, not those of a running service', async (t) => {
  const folder = newFolder()
  rememberServers(folder, { DATABASE_URL: 'postgres://127.0.0.1:1/wrong' })
  const env = {
    PATH: process.env['PATH'],
    ZONEPLANE_DATA: folder,
    PDNS_API_URL: 'http://127.0.0.1:1',
    PDNS_API_KEY: 'k',
  }
  const { ended, output } = startOurs(['account', 'list'], { ...env, NAMESERVERS: 'ns1.example.test' })
  t.is(await ended, 1)
  t.regex(output(), /^zoneplane: DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set/)
})

test.serial('the private PowerDNS answers on all addresses of DNS_HOST', async (t) => {
  const env = { ...privately(newFolder()), DNS_HOST: '127.0.0.2, 127.0.0.3' }
  const { child, ended, output } = startOurs(['start'], env)
  await eventually(() => apiUrl(output()))
  const [, host, port] = /^ {2}DNS {4}(\S+) port (\d+)$/m.exec(output())!
  t.is(host, '127.0.0.2')
  for (const dnsHost of ['127.0.0.2', '127.0.0.3']) {
    const { rcode } = await ask({ dnsHost, dnsPort: Number(port) }, 'example.test', 'SOA')
    t.is(rcode, 'NOERROR')
  }
  await t.throwsAsync(once(connect(Number(port), '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  child.kill('SIGTERM')
  t.is(await ended, 0)
})

test.serial('an address that the machine lacks is named', async (t) => {
  const { ended, output } = startOurs(['start'], { ...privately(newFolder()), DNS_HOST: '192.0.2.1' })
  t.is(await ended, 1)
  t.regex(output(), /^zoneplane: 192\.0\.2\.1 is no address of this machine\. Set DNS_HOST to/m)
})

test.serial('if nobody reads the output any more, the service stops cleanly', async (t) => {
  const folder = newFolder()
  const { child, ended, output } = startOurs(['start'], privately(folder))
  // It has more to say.
  child.stdout.once('data', () => child.stdout.destroy())
  t.is(await ended, 0)
  t.notRegex(output(), /EPIPE|^\s+at /m)
  t.deepEqual(processes(folder), [undefined, undefined])
})

test.serial('a second Ctrl-C does not disturb the orderly stop', async (t) => {
  const folder = newFolder()
  const { child, ended, output } = startOurs(['start'], privately(folder))
  await eventually(() => apiUrl(output()))
  child.kill('SIGINT')
  await eventuallyHas(output, 'SIGINT: stopping')
  child.kill('SIGINT')
  t.is(await ended, 0)
  t.deepEqual(processes(folder), [undefined, undefined])
  t.false(existsSync(join(folder, 'running.json')))
})

test.serial('if npm is killed, the service and its private servers stop', async (t) => {
  const folder = newFolder()
  const command = 'exec "$0" --enable-source-maps "$1" start'
  const parent = startProgram(
    'sh',
    ['-c', `sh -c '${command}' "$0" "$1"; true`, process.execPath, join(projectFolder(), 'build', 'src', 'cli.js')],
    { ...privately(folder), npm_lifecycle_event: 'start' },
  )
  await eventually(() => apiUrl(parent.output()))
  parent.child.kill('SIGKILL')
  await parent.ended
  t.regex(parent.output(), /^zoneplane: npm has ended: stopping$/m)
  t.deepEqual(processes(folder), [undefined, undefined])
})

for (const [durable, fsync] of [
  ['on', 'on'],
  ['off', 'off'],
] as const) {
  test.serial(
    `with DURABLE=${durable}, the private servers ${fsync === 'on' ? 'wait' : 'do not wait'} for the disk`,
    async (t) => {
      const folder = newFolder()
      const { child, ended, output } = startOurs(['start'], { ...privately(folder), DURABLE: durable })
      await eventually(() => apiUrl(output()))
      const db = openDatabase(recallServers(folder)!['DATABASE_URL']!, 1)
      t.deepEqual(await query(db, 'show fsync'), [{ fsync }])
      await db.end()
      const settings = readFileSync(join(folder, 'pdns', 'config', 'pdns.conf'), 'utf8')
      t.is(settings.includes('lmdb-sync-mode=nosync'), durable === 'off')
      child.kill('SIGTERM')
      t.is(await ended, 0)
    },
  )
}
