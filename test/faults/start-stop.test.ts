import test from 'ava'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { openDatabase, query } from '../../src/store/database.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventually } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { startOurs } from '../support/servers/programs.ts'
import { createDatabase } from '../support/servers/servers.ts'
import { environmentFor } from '../support/servers/service.ts'

const servers = useServers()

test.afterEach.always(() => servers().killServices())

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })

/** A local port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const refusals: { what: string; env: (port: number) => Record<string, string>; message: (port: number) => RegExp }[] = [
  {
    what: 'Postgres at an IP address is unreachable',
    env: (port) => ({ DATABASE_URL: `postgres://user:s3cret@127.0.0.1:${port}/db` }),
    message: (port) =>
      new RegExp(`^zoneplane: Postgres at 127\\.0\\.0\\.1:${port}/db cannot be used: .*ECONNREFUSED.*$`, 'm'),
  },
  {
    what: 'Postgres at a host name is unreachable',
    env: (port) => ({ DATABASE_URL: `postgres://user:s3cret@localhost:${port}/db` }),
    message: (port) =>
      new RegExp(`^zoneplane: Postgres at localhost:${port}/db cannot be used: .*ECONNREFUSED.*$`, 'm'),
  },
  {
    what: 'the database does not exist',
    env: () => {
      const url = new URL(servers().backends.databaseUrl)
      url.pathname = '/nowhere'
      return { DATABASE_URL: url.href }
    },
    message: () => /^zoneplane: Postgres at .*\/nowhere cannot be used: .*database "nowhere" does not exist$/m,
  },
  {
    what: 'PowerDNS is unreachable',
    env: (port) => ({ PDNS_API_URL: `http://127.0.0.1:${port}` }),
    message: (port) =>
      new RegExp(`^zoneplane: PowerDNS at 127\\.0\\.0\\.1:${port} cannot be used: .*ECONNREFUSED.*$`, 'm'),
  },
  {
    what: 'PowerDNS rejects the API key',
    env: () => ({ PDNS_API_KEY: 'wrong-s3cret' }),
    message: () => /^zoneplane: PowerDNS at 127\.0\.0\.1:\d+ cannot be used: PowerDNS answered 401$/m,
  },
]

for (const { what, env, message } of refusals) {
  test(`if ${what}, an error message names the address, and the exit code is 1`, async (t) => {
    const port = await freePort()
    const { ended, output } = startOurs('main.js', [], environmentFor(servers().backends, env(port)))
    t.is(await ended, 1)
    t.regex(output(), message(port))
    t.notRegex(output(), /^\s+at /m)
    t.notRegex(output(), /s3cret/)
  })
}

test('if another version made the schema, an error message says what to do, and the exit code is 1', async (t) => {
  const { url, drop } = await createDatabase()
  const db = openDatabase(url, 1)
  await query(db, `update knex_migrations set name = '001_accounts' where name = '01_accounts'`)
  await db.end()
  const { ended, output } = startOurs('main.js', [], environmentFor(servers().backends, { DATABASE_URL: url }))
  t.is(await ended, 1)
  t.regex(
    output(),
    /^zoneplane: Postgres at .* cannot be used: another version of Zoneplane made its schema .* --fresh$/m,
  )
  await drop()
})

test('if the port is taken, an error message names it, and the exit code is 1', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { ended, output } = startOurs('main.js', [], environmentFor(servers().backends, { PORT: String(port) }))
  t.is(await ended, 1)
  server.close()
  t.regex(
    output(),
    new RegExp(`^zoneplane: cannot listen on 127\\.0\\.0\\.1 port ${port} \\(HOST, PORT\\): .*EADDRINUSE.*$`, 'm'),
  )
  t.notRegex(output(), /^\s+at /m)
})

test('all invalid environment variables are reported at once, and the exit code is 1', async (t) => {
  const env = { PORT: 'http', MINIMUM_TTL: '0', THROTTLE: 'maybe', DATABASE_URL: 'mysql://root:s3cret@db/' }
  const { ended, output } = startOurs('main.js', [], environmentFor(servers().backends, env))
  t.is(await ended, 1)
  t.is(
    output(),
    'zoneplane: PORT: must be a whole number from 0 to 65535\n' +
      'DATABASE_URL: must be a URL beginning with postgres:// or postgresql://\n' +
      'MINIMUM_TTL: must be a whole number from 1 to 3600\n' +
      'THROTTLE: must be "on" or "off"\n',
  )
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test.serial(
    `on ${signal} the service finishes running requests, refuses new ones, and exits with code 0`,
    async (t) => {
      const service = await servers().start()
      const name = `stopped-by-${signal.toLowerCase()}.example`
      await service.api.post('/domains/', { name })
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
    },
  )
}

test('the command line reports usage errors, and the exit code is 1', async (t) => {
  for (const [args, message] of [
    [[], 'zoneplane: no command given'],
    [['reconsider'], "zoneplane: unknown command 'reconsider'"],
    [['reconcile', '--content'], "zoneplane: unknown option '--content'"],
  ] as const) {
    const { ended, output } = startOurs('cli.js', [...args], environmentFor(servers().backends))
    t.is(await ended, 1)
    t.true(output().startsWith(message), output())
    t.regex(output(), /--help/)
  }
})

test('the command line prints its help', async (t) => {
  for (const [args, usage] of [
    [['--help'], 'Usage: zoneplane [options] [command]\n'],
    [['reconcile', '--help'], 'Usage: zoneplane reconcile [options]\n'],
  ] as const) {
    const { ended, output } = startOurs('cli.js', [...args], {})
    t.is(await ended, 0)
    t.true(output().startsWith(usage), output())
  }
})

test('`zoneplane reconcile` requires the settings of the database and PowerDNS', async (t) => {
  const { ended, output } = startOurs('cli.js', ['reconcile'], { PATH: process.env['PATH'] })
  t.is(await ended, 1)
  t.is(
    output(),
    'zoneplane: DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set: they name the servers to work on\n',
  )
})

test('`zoneplane reconcile` names a server that is unreachable', async (t) => {
  const port = await freePort()
  const env = environmentFor(servers().backends, { PDNS_API_URL: `http://127.0.0.1:${port}` })
  const { ended, output } = startOurs('cli.js', ['reconcile'], env)
  t.is(await ended, 1)
  t.regex(output(), new RegExp(`^zoneplane: PowerDNS at 127\\.0\\.0\\.1:${port} cannot be used: .*\n$`))
})

test.serial('`zoneplane reconcile` lists the zones that it could not repair, and the exit code is 1', async (t) => {
  const service = await servers().start()
  const name = 'unrepaired.example'
  await service.api.post('/domains/', { name })
  await service.kill()
  await servers().pdns('DELETE', `/zones/${name}.`)
  servers().proxy.fail(({ method, body }) => (method === 'POST' && body.includes(name) ? { refuse: 500 } : 'pass'))
  const { ended, output } = startOurs('cli.js', ['reconcile'], environmentFor(servers().backends))
  t.is(await ended, 1)
  t.regex(output(), /^unrepaired\.example: not repaired: injected$/m)
})
