import type { ExecutionContext } from 'ava'
import { join } from 'node:path'
import { removeInstanceFolder } from '../../src/private-servers/instance-folder.ts'
import { startPostgres } from '../../src/private-servers/postgres.ts'
import { WRITERS_PER_ACCOUNT } from '../../src/service/zone/publication.ts'
import { query } from '../../src/store/database.ts'
import { readiness } from '../support/clients/api.ts'
import type { Answer, Client } from '../support/clients/client.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventually } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startPostgresProxy } from '../support/servers/postgres/postgres-proxy.ts'

// Postgres closes connections, or is down for a while: the answer is 503, never 500, and no acknowledged write is lost.

const servers = useServers()

test.afterEach.always(() => servers().killServices())

const rrset = (subname: string, number: number) => ({
  subname,
  type: 'A',
  ttl: 300,
  records: [`198.51.${Math.floor(number / 250)}.${number % 250}`],
})

const AWAY = 'The DNS backend is currently unavailable.'
const unavailable = (advice: string, cause = AWAY) => `{"detail":"${cause} ${advice} retry."}`
/** What says that a request has waited too long, as on a busy machine. */
const LATE = 'The request waited too long for its turn.'

function isUnavailable(t: ExecutionContext, answer: Answer, advice = 'Nothing was changed; please'): void {
  t.deepEqual([answer.status, answer.text, answer.headers['retry-after']], [503, unavailable(advice), '5'])
}

const NOT_MADE = 'The change was not made, but DNS can show it for a moment; please'

/** What a write gets that fails: PowerDNS has got its record, or not. */
function adviceFor(name: string, record: string): string {
  const isSent = servers().proxy.calls.some(
    ({ method, path, body }) => method === 'PATCH' && path === `/zones/${name}.` && body.includes(`"${record}"`),
  )
  return isSent ? NOT_MADE : 'Nothing was changed; please'
}

/** Answers to writes that go on. */
interface Writing {
  /** Those that nobody should get. */
  wrong: string[]
  /** What was acknowledged last, by domain. */
  acknowledged: Map<string, string>
  successes: number
  failures: number
  stop(): Promise<void>
}

/** Writes to an RRset of each domain until it is stopped. */
function keepWriting(api: Client, names: string[]): Writing {
  let goOn = true
  const writing: Writing = {
    ...{ wrong: [], acknowledged: new Map(), successes: 0, failures: 0 },
    async stop() {
      goOn = false
      await ended
    },
  }
  const isGood = ({ status, text, headers }: Answer, advice: () => string) => {
    if (status === 200) return ++writing.successes > 0
    writing.failures++
    const expected = unavailable(advice(), text.includes(LATE) ? LATE : AWAY)
    if (status !== 503 || text !== expected || headers['retry-after'] !== '5') {
      writing.wrong.push(`${status} ${text} instead of ${expected}`)
    }
    return false
  }
  const ended = Promise.all(
    names.map(async (name) => {
      // The domain has 0 already.
      for (let i = 1; goOn; i++) {
        const path = `/domains/${name}/rrsets/www/A/`
        const record = rrset('www', i).records[0]!
        const written = await api.put(path, rrset('www', i))
        if (isGood(written, () => adviceFor(name, record))) writing.acknowledged.set(name, record)
        else writing.acknowledged.delete(name)
        isGood(await api.get(path), () => 'Please')
      }
    }),
  )
  return writing
}

async function makeDomains(service: OwnService, names: string[]): Promise<void> {
  for (const name of names) {
    await service.api.post('/domains/', { name })
    await service.api.post(`/domains/${name}/rrsets/`, rrset('www', 0))
  }
}

test('if Postgres closes connections during writes, answers are 503 and no acknowledged write is lost', async (t) => {
  const service = await servers().serve()
  const names = Array.from({ length: WRITERS_PER_ACCOUNT }, (_, i) => `closed-${i}.example`)
  await makeDomains(service, names)
  const random = new Random()
  const writing = keepWriting(service.api, names)
  const answered = () => writing.successes + writing.failures
  for (let rounds = 0; rounds < 30; rounds++) {
    await query(
      servers().system.db,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and random() < 0.5`,
    )
    const enough = answered() + random.below(20)
    await eventually(() => answered() >= enough)
  }
  await writing.stop()
  const { wrong, acknowledged, successes, failures } = writing
  t.true(successes > 0 && failures > 0, `${successes} succeeded, ${failures} failed`)
  t.deepEqual(wrong, [])
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  for (const [name, record] of acknowledged) {
    t.like((await service.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: [record] })
  }
  t.is((await service.api.put(`/domains/${names[0]!}/rrsets/www/A/`, rrset('www', 9999))).status, 200)
})

test('if an upgrade of Postgres has replaced a library, writes are 503, and readiness notices it', async (t) => {
  const service = await servers().serve()
  const { db } = servers().system
  await makeDomains(service, ['upgraded.example'])
  const path = '/domains/upgraded.example/rrsets/www/A/'
  /** Gives new sessions, which have not loaded the language of constraints yet, this library for it. */
  const useLibrary = async (library: string) => {
    await query(db, "update pg_proc set probin = :library where proname like 'plpgsql%'", { library })
    await query(
      db,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
  }
  await useLibrary('$libdir/replaced')
  await eventually(async () => (await service.api.get('//root/readyz')).status === 503)
  // PowerDNS has got this change: storing it failed.
  isUnavailable(t, await service.api.put(path, rrset('www', 1)), NOT_MADE)
  isUnavailable(t, await service.api.post('/domains/', { name: 'unborn.example' }))
  t.like((await service.api.get(path)).json, { records: rrset('www', 0).records })
  await useLibrary('$libdir/plpgsql')
  await eventually(async () => (await service.api.put(path, rrset('www', 2))).status === 200)
  await eventually(async () => (await service.api.get('//root/readyz')).status === 200)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test('while Postgres is down, requests are answered 503; when it is back, they succeed', async (t) => {
  const folder = join(newFolder(), 'postgres')
  const open = () => startPostgres(folder, { durable: false, progress: () => undefined })
  let postgres = await open()
  try {
    const token = 'a-token-for-the-time-being'
    const service = await servers().start({ DATABASE_URL: postgres.url, ZONEPLANE_TOKEN: token })
    const api = service.clientOf(token)
    const path = '/domains/example.test/rrsets/'
    for (const subname of ['www', 'kept']) t.is((await api.post(path, rrset(subname, 0))).status, 201)
    const writing = keepWriting(api, ['example.test'])
    await eventually(() => writing.successes > 0)
    await postgres.stop()
    for (const read of ['/', '/domains/', '/domains/example.test/', path, `${path}www/A/`]) {
      isUnavailable(t, await api.get(read), 'Please')
    }
    isUnavailable(t, await api.post('/domains/', { name: 'unborn.test' }))
    isUnavailable(t, await api.post(path, rrset('unborn', 1)))
    isUnavailable(t, await api.delete(`${path}kept/A/`))
    t.is((await service.anonymous.get('/')).status, 200)
    t.is((await service.anonymous.get('/domains/')).status, 401)
    t.is((await service.anonymous.get('/nothing/')).status, 404)
    t.is((await service.anonymous.get('//root/healthz')).status, 200)
    const ready = await service.anonymous.get('//root/readyz')
    t.is(ready.status, 503)
    t.is(
      ready.text,
      '{"status":"unavailable","checks":{"database":"unavailable","migrations":"unavailable","powerdns":"ok"}}',
    )
    t.is(ready.headers['retry-after'], '5')
    await eventually(() => writing.failures > 0)
    postgres = await open()
    await writing.stop()
    t.deepEqual(writing.wrong, [])
    for (const [read, status] of [
      ['/domains/unborn.test/', 404],
      [`${path}unborn/A/`, 404],
      [`${path}kept/A/`, 200],
    ] as const) {
      t.is((await api.get(read)).status, status, read)
    }
    t.is((await readiness(servers(), service.anonymous)).status, 200)
    t.is((await api.put(`${path}www/A/`, rrset('www', 1))).status, 200)
    t.is((await api.put(`${path}www/A/`, rrset('www', 2))).status, 200)
  } finally {
    await servers().killServices()
    await postgres.stop()
    await removeInstanceFolder(folder)
  }
})

test('reads on connections that hang are answered 503, and then succeed on new connections', async (t) => {
  const proxy = await startPostgresProxy(servers().backends.databaseUrl)
  try {
    const { api } = await servers().serve({ DATABASE_URL: proxy.url })
    t.is((await api.get('/domains/')).status, 200)
    proxy.hang()
    // More than there are connections, so none that hangs is left.
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.get('/domains/')))
    const failed = answers.filter(({ status }) => status !== 200)
    t.not(failed.length, 0)
    for (const answer of failed) isUnavailable(t, answer, 'Please')
    t.is((await api.get('/domains/')).status, 200)
  } finally {
    // Otherwise the service waits for its background tasks on these connections.
    await proxy.close()
    await servers().killServices()
  }
})
