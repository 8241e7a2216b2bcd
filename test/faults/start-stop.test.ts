import type { ExecutionContext } from 'ava'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Pool } from 'undici'
import { startPostgres } from '../../src/private-servers/postgres.ts'
import { query } from '../../src/store/database.ts'
import { newDomain, newDomainWithWww, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventually, eventuallyHas, eventuallyIs } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startGate } from '../support/servers/gate.ts'
import { freePort, listen } from '../support/servers/ports.ts'
import { createDatabase, openPatiently } from '../support/servers/postgres/databases.ts'
import { runOurs, startOurs } from '../support/servers/programs.ts'
import { apiUrl, environmentFor } from '../support/servers/service.ts'

const servers = useServers()

test.afterEach.always(() => servers().killServices())

/** What the program says that fails at once, which is neither a secret nor a stack. */
async function failure(t: ExecutionContext, args: string[], env: NodeJS.ProcessEnv, exit = 1): Promise<string> {
  const [code, output] = await runOurs(args, env)
  t.is(code, exit)
  t.notRegex(output, /^\s+at |s3cret/m)
  return output
}

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })

/** Some versions of PowerDNS take this label for the hash of a name. */
const HASH = '0123456789abcdefghijklmnopqrstuv'

/** What a Postgres that is starting answers: an ErrorResponse of its protocol. */
const STARTING = (() => {
  const fields = ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up', '']
  const body = Buffer.from(fields.map((field) => `${field}\0`).join(''))
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
})()

/** Waiting this long would end the test. */
const PATIENT = { START_TIMEOUT: '3600' }

for (const [what, host] of [
  ['Postgres at an IP address stays unreachable', '127.0.0.1'],
  ['Postgres at a host name stays unreachable', 'localhost'],
] as const) {
  test(`if ${what}, an error message names the address, and the exit code is 1`, async (t) => {
    const port = await freePort()
    const env = { DATABASE_URL: `postgres://user:s3cret@${host}:${port}/db`, START_TIMEOUT: '1' }
    const said = await failure(t, ['start'], environmentFor(servers().backends, env))
    const expected = `^zoneplane: Postgres at ${host.replaceAll('.', '\\.')}:${port}/db cannot be used: .*ECONNREFUSED.*$`
    t.regex(said, new RegExp(expected, 'm'))
  })
}

test('if the database does not exist, an error message names the address, and the exit code is 1', async (t) => {
  const url = new URL(servers().backends.databaseUrl)
  url.pathname = '/nowhere'
  const said = await failure(t, ['start'], environmentFor(servers().backends, { DATABASE_URL: url.href, ...PATIENT }))
  t.regex(said, /^zoneplane: Postgres at .*\/nowhere cannot be used: .*database "nowhere" does not exist$/m)
})

test('if Postgres refuses the password, an error message says so at once, and the exit code is 1', async (t) => {
  const folder = newFolder()
  const postgres = await startPostgres(folder, { durable: false, progress: () => undefined })
  const db = openPatiently(postgres.url, 1)
  writeFileSync(join(folder, 'data', 'pg_hba.conf'), 'local all all scram-sha-256\n')
  await query(db, 'select pg_reload_conf()')
  await db.end()
  const url = new URL(postgres.url)
  url.password = 's3cret'
  const env = environmentFor(servers().backends, { DATABASE_URL: url.href, ...PATIENT })
  const said = await failure(t, ['start'], env)
  t.regex(said, /^zoneplane: Postgres at .* cannot be used: .*password authentication failed.*$/m)
  await postgres.stop()
})

for (const what of ['refuses connections', 'is starting']) {
  test(`while Postgres ${what}, the service waits for it, and says so once; then it starts`, async (t) => {
    const gate = await startGate(servers().backends.databaseUrl)
    await gate.shut()
    const { port } = new URL(gate.url)
    const starting = createServer((socket) => {
      socket.once('data', () => socket.end(STARTING))
    })
    if (what === 'is starting') await listen(starting, Number(port))
    const env = environmentFor(servers().backends, { DATABASE_URL: gate.url, ...PATIENT })
    const { child, ended, output } = startOurs(['start'], env)
    await eventuallyHas(output, `"waiting for Postgres at 127.0.0.1:${port}/`)
    if (what === 'is starting') await once(starting.close(), 'close')
    await gate.open()
    await eventually(() => apiUrl(output()))
    t.is(output().split('waiting for Postgres').length, 2)
    child.kill()
    t.is(await ended, 0)
    await gate.shut()
  })
}

test('SIGTERM ends a service that waits for Postgres, with exit code 0', async (t) => {
  const env = { DATABASE_URL: `postgres://user@127.0.0.1:${await freePort()}/db`, ...PATIENT }
  const { child, ended, output } = startOurs(['start'], environmentFor(servers().backends, env))
  await eventuallyHas(output, 'waiting for Postgres')
  child.kill()
  t.is(await ended, 0)
  t.regex(output(), /^zoneplane: SIGTERM: stopping$/m)
})

/** What the service says of PowerDNS. */
async function powerDnsIs(anonymous: Client): Promise<string | undefined> {
  const { json } = await anonymous.get('//root/readyz')
  return (json as { checks: { powerdns?: string } }).checks.powerdns
}

const UNAVAILABLE = { detail: 'The DNS backend is currently unavailable. Nothing was changed; please retry.' }

test('without PowerDNS the service starts, reads work, and writes are 503 until PowerDNS comes', async (t) => {
  const { powerDns, restartPowerDns } = servers()
  const first = await servers().serve()
  const name = 'started-without.example'
  await newDomainWithWww(first.api, name)
  await first.stop()
  process.kill(powerDns.pid, 'SIGKILL')
  await powerDns.exited

  const { api, anonymous, output } = await servers().start({
    PDNS_API_URL: powerDns.apiUrl,
    ZONEPLANE_TOKEN: 'demonstration',
  })
  t.is((await api.get(`/domains/${name}/rrsets/www/A/`)).status, 200)
  const like = { ...rrset('192.0.2.1'), subname: HASH }
  for (const { status, json, headers } of [
    await api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2')),
    await api.post(`/domains/${name}/rrsets/`, like),
    await api.post('/domains/', { name: 'another.example' }),
    await api.delete(`/domains/${name}/`),
  ]) {
    t.deepEqual([status, json, headers['retry-after']], [503, UNAVAILABLE, '5'])
  }
  t.is((await api.get(`/domains/${name}/`)).status, 200)
  const away = { status: 'ready', checks: { database: 'ok', migrations: 'ok', powerdns: 'unavailable' } }
  t.deepEqual((await anonymous.get('//root/readyz')).json, away)
  t.regex(output(), /"demo domain not created/)

  await restartPowerDns()
  await eventuallyIs(() => powerDnsIs(anonymous), 'ok')
  t.is((await api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2'))).status, 200)
  t.is((await api.post('/domains/', { name: 'another.example' })).status, 201)
  t.is((await api.delete('/domains/another.example/')).status, 204)
  const failures = output()
    .split('\n')
    .filter((line) => line.includes('PowerDNS is unavailable'))
    .map((line) => (JSON.parse(line) as { reason: string }).reason)
  t.true(failures.length > 0 && failures.every((reason, i) => reason !== failures[i + 1]), failures.join('\n'))
  t.is(output().split('PowerDNS is available').length, 2)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test('if PowerDNS rejects the API key, the service starts, and the log names the setting', async (t) => {
  const { anonymous, api, output } = await servers().start({ PDNS_API_KEY: 'wrong-s3cret' })
  t.is(await powerDnsIs(anonymous), 'unavailable')
  t.is((await api.post('/domains/', { name: 'wrong-key.example' })).status, 503)
  t.regex(output(), /"level":"error".*"PowerDNS is unavailable.*\(PDNS_API_KEY\)/)
  t.notRegex(output(), /s3cret/)
})

test('what the service must ask PowerDNS at its start, writes wait for, and reads do not', async (t) => {
  const { proxy } = servers()
  const first = await servers().serve()
  const name = 'asked-later.example'
  t.is((await first.api.post('/domains/', { name })).status, 201)
  await first.stop()
  proxy.calls.length = 0
  proxy.fail(({ path }) => (path === '/config' ? { refuse: 500 } : 'pass'))
  const { api, anonymous } = await servers().start()
  t.is((await api.get(`/domains/${name}/`)).status, 200)
  for (const { status, json } of [
    await api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1')),
    await api.post(`/domains/${name}/rrsets/`, { ...rrset('192.0.2.1'), subname: HASH }),
    await api.post('/domains/', { name: 'never-asked.example' }),
    await api.delete(`/domains/${name}/`),
  ]) {
    t.deepEqual([status, json], [503, UNAVAILABLE])
  }
  const changing = proxy.calls.filter(({ method }) => method !== 'GET')
  t.deepEqual(changing, [])
  proxy.heal()
  await eventuallyIs(() => powerDnsIs(anonymous), 'ok')
  t.is((await api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))).status, 201)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test('if another version made the schema, an error message says what to do, and the exit code is 1', async (t) => {
  const { url, drop } = await createDatabase()
  const db = openPatiently(url, 1)
  await query(db, `update knex_migrations set name = '001_accounts' where name = '01_accounts'`)
  await db.end()
  const env = environmentFor(servers().backends, { DATABASE_URL: url, ...PATIENT })
  const said = await failure(t, ['start'], env)
  t.regex(said, /^zoneplane: Postgres at .* cannot be used: another version of Zoneplane made its schema .* --fresh$/m)
  await drop()
})

test('if the port is taken, an error message names it, and the exit code is 1', async (t) => {
  const server = createServer()
  const port = await listen(server)
  const said = await failure(t, ['start'], environmentFor(servers().backends, { PORT: String(port) }))
  server.close()
  const expected = `^zoneplane: cannot listen on 127\\.0\\.0\\.1 port ${port} \\(HOST, PORT\\): .*EADDRINUSE.*$`
  t.regex(said, new RegExp(expected, 'm'))
})

test('all invalid environment variables are reported at once, and the exit code is 1', async (t) => {
  const env = { PORT: 'http', MINIMUM_TTL: '0', THROTTLE: 'maybe', DATABASE_URL: 'mysql://root:s3cret@db/' }
  t.is(
    await failure(t, ['start'], environmentFor(servers().backends, env)),
    'zoneplane: DATABASE_URL: must be a URL beginning with postgres:// or postgresql://\n' +
      'PORT: must be a whole number from 0 to 65535\n' +
      'MINIMUM_TTL: must be a whole number from 1 to 3600\n' +
      'THROTTLE: must be "on" or "off"\n',
  )
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`on ${signal} the service finishes running requests, refuses new ones, and exits with code 0`, async (t) => {
    const service = await servers().start()
    const name = `stopped-by-${signal.toLowerCase()}.example`
    succeeded(await service.api.post('/domains/', { name }), 201)
    const idle = new Pool(service.url, { connections: 1 })
    t.is((await (await idle.request({ path: '/healthz', method: 'GET' })).body.text()).length, 15)
    const stopped = servers().proxy.stop(({ method }) => method === 'PATCH')
    const answering = service.api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))
    await stopped.arrived
    service.signal(signal)
    await eventually(async () =>
      service.anonymous.get('//root/healthz').then(
        () => false,
        () => true,
      ),
    )
    await t.throwsAsync(idle.request({ path: '/healthz', method: 'GET' }), { code: 'ECONNREFUSED' })
    await idle.destroy()
    stopped.release('pass')
    t.is((await answering).status, 201)
    t.is(await service.ended, 0)
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  })
}

// Which errors there are, and the help of all commands: test/cli/commands.test.ts.
test('the command line reports usage errors, and the exit code is 2', async (t) => {
  const said = await failure(t, ['reconcile', '--content'], environmentFor(servers().backends), 2)
  t.regex(said, /^zoneplane: unknown option '--content'/)
  t.regex(said, /--help/)
})

test('`zoneplane reconcile` requires the settings of the database and PowerDNS', async (t) => {
  const { PATH, DATABASE_URL, KEY_ENCRYPTION_KEYS } = environmentFor(servers().backends)
  t.is(
    await failure(t, ['reconcile'], { PATH, DATABASE_URL, KEY_ENCRYPTION_KEYS }),
    'zoneplane: DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set: they name the servers to work on\n',
  )
})

test('`zoneplane reconcile` names a server that is unreachable, and the exit code is 75', async (t) => {
  const port = await freePort()
  const env = environmentFor(servers().backends, { PDNS_API_URL: `http://127.0.0.1:${port}` })
  const said = await failure(t, ['reconcile'], env, 75)
  t.regex(said, new RegExp(`^zoneplane: PowerDNS at 127\\.0\\.0\\.1:${port} cannot be used: .*\n$`))
})

test('`zoneplane reconcile` lists the zones that it could not repair, and the exit code is 1', async (t) => {
  const service = await servers().serve()
  const name = 'unrepaired.example'
  succeeded(await service.api.post('/domains/', { name }), 201)
  await service.stop()
  await servers().pdns('DELETE', `/zones/${name}.`)
  servers().proxy.fail(({ method, body }) => (method === 'POST' && body.includes(name) ? { refuse: 500 } : 'pass'))
  const said = await failure(t, ['reconcile'], environmentFor(servers().backends))
  t.regex(said, /^unrepaired\.example: not repaired: injected$/m)
})

/** The longest, in seconds. */
const DELAY = 40

test('during SHUTDOWN_DELAY, the readiness is 503 and everything else is answered as before; a second signal ends it', async (t) => {
  const service = await servers().start({ SHUTDOWN_DELAY: String(DELAY) })
  const name = await newDomain(service.api)
  t.is((await service.anonymous.get('//root/readyz')).status, 200)
  const start = performance.now()
  service.signal('SIGTERM')
  await eventuallyHas(() => service.output(), 'SIGTERM: stopping')
  const ready = await service.anonymous.get('//root/readyz')
  t.deepEqual([ready.status, ready.text], [503, '{"status":"stopping"}'])
  t.is(ready.headers['retry-after'], '5')
  t.is((await service.anonymous.get('//root/healthz')).status, 200)
  t.is((await service.api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))).status, 201)
  // Whoever keeps connections open is told to open no more requests on them.
  const pool = new Pool(service.url, { connections: 1 })
  const { headers, body } = await pool.request({ path: '/healthz', method: 'GET' })
  await body.dump()
  t.is(headers['connection'], 'close')
  await pool.destroy()
  service.signal('SIGTERM')
  t.is(await service.ended, 0)
  t.true(performance.now() - start < DELAY * 1_000, 'the second signal did not end it')
})

test('after SHUTDOWN_DELAY, the service ends by itself', async (t) => {
  const service = await servers().start({ SHUTDOWN_DELAY: '1' })
  service.signal('SIGTERM')
  t.is(await service.ended, 0)
})
