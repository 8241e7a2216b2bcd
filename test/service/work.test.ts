import type { ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import pg from 'pg'
import type { BackgroundTask } from '../../src/flow/background.ts'
import { createLog } from '../../src/log.ts'
import { createSystem, type OpenSystem } from '../../src/process/create-system.ts'
import { workOff, workTask } from '../../src/service/work/crew.ts'
import { add, type Kind, type Scan, type Work } from '../../src/service/work/work.ts'
import { readConfig } from '../../src/settings/config.ts'
import { one, query, transaction } from '../../src/store/database.ts'
import * as store from '../../src/store/work.ts'
import { later } from '../../src/time.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { test } from '../support/serial.ts'
import { createDatabase } from '../support/servers/postgres/databases.ts'
import { startPostgresProxy } from '../support/servers/postgres/postgres-proxy.ts'
import { waitingForLocks } from '../support/state/transactions.ts'

// What is done later (architecture.md), by one or two processes. Mails, in mail.test.ts, have the pauses and the clock.

let database: Awaited<ReturnType<typeof createDatabase>>
/** Two processes. */
let system: OpenSystem
let other: OpenSystem
let log = ''

test.before(async () => {
  database = await createDatabase()
  system = open()
  other = open()
})

test.after.always(async () => {
  await Promise.all([system, other].map((each) => each[Symbol.asyncDispose]()))
  await database.drop()
})

test.beforeEach(async () => {
  await query(system.db, 'delete from work')
  log = ''
})

function open(databaseUrl = database.url): OpenSystem {
  const stream = new PassThrough().on('data', (line: Buffer) => (log += line.toString()))
  const backends = { databaseUrl, pdnsApiUrl: 'http://127.0.0.1:1', pdnsApiKey: 'key' }
  return createSystem(readConfig({}), backends, createLog('info', stream))
}

/** Work whose runs the test sees, and ends. */
class Runs {
  readonly kind: Kind
  /** The subjects whose runs have begun, in their order. */
  readonly begun: string[] = []
  /** Those whose runs go on. */
  readonly open = new Map<string, { end: (next?: string) => void; fail: (error: Error) => void; signal: AbortSignal }>()

  constructor(kind: Partial<Kind> = {}) {
    this.kind = {
      ...{ kind: 'test', all: 3, retry: [0, 60] },
      run: (_system, work, signal) => this.#run(work, signal),
      ...kind,
    }
  }

  async #run({ subject }: Work, signal: AbortSignal): Promise<string | undefined> {
    if (this.open.has(subject)) throw new Error(`${subject} runs twice at a time`)
    this.begun.push(subject)
    return new Promise<string | undefined>((resolve, reject) => {
      this.open.set(subject, { end: resolve, fail: reject, signal })
      signal.addEventListener('abort', () => {
        reject(new Error('aborted'))
      })
    }).finally(() => this.open.delete(subject))
  }
}

function start(t: ExecutionContext, runs: Runs[], by = system): BackgroundTask {
  const task = workTask(
    by,
    runs.map(({ kind }) => kind),
  )
  t.teardown(() => task.stop())
  return task
}

async function cause(subject: string, { kind = 'test', accountId }: { kind?: string; accountId?: string } = {}) {
  const work = { kind, subject, due: system.now(), ...(accountId === undefined ? {} : { accountId }) }
  await transaction(system.db, (trx) => add(system, trx, work))
}

async function left(): Promise<{ subject: string; attempts: number; claimed: boolean }[]> {
  return query(system.db, 'select subject, attempts, claim is not null as claimed from work order by id')
}

/** The end of the claims of a process that was killed. */
async function endClaims(): Promise<void> {
  await query(system.db, `update work set claimed_until = now() - interval '1 second' where claim is not null`)
}

test('work that is caused again while it is done is done once more, and never twice at a time', async (t) => {
  const runs = new Runs()
  const tasks = [start(t, [runs]), start(t, [runs], other)]
  await cause('a')
  await eventuallyIs(() => runs.begun, ['a'])
  await cause('a')
  await cause('a')
  await cause('b')
  await eventuallyIs(() => runs.begun, ['a', 'b'])
  runs.open.get('a')!.end()
  await eventuallyIs(() => runs.begun, ['a', 'b', 'a'])
  for (const { end } of runs.open.values()) end()
  await eventuallyIs(left, [])
  await Promise.all(tasks.map((task) => task.stop()))
  t.deepEqual(runs.begun, ['a', 'b', 'a'])
})

/** Milliseconds after which processes would look by themselves. */
const NEVER = 3_600_000

/** Waits until a process hears what others cause, on a session that is not this one. Returns the session. */
async function listener(other = 0): Promise<number> {
  const sql = `select pid from pg_stat_activity
    where datname = current_database() and query = 'listen work' and state = 'idle' and pid <> :other`
  const [found] = await eventually(
    () => query<{ pid: number }>(system.db, sql, { other }),
    (rows) => rows.length > 0,
  )
  return found!.pid
}

test('what another process has caused begins without a look; what it causes while the connection is broken, too', async (t) => {
  const runs = new Runs({ all: 9 })
  const task = workTask(other, [runs.kind], { pause: NEVER })
  t.teardown(() => task.stop())
  const pid = await listener()
  // The looks at the start, and of the new listener, can find two of them.
  for (const subject of ['a', 'b', 'c']) {
    await cause(subject)
    await eventually(() => runs.begun.includes(subject))
  }
  const later = { kind: 'test', subject: 'later', due: '2100-01-01T00:00:00.000000Z' }
  await transaction(system.db, (trx) => add(system, trx, later))
  await store.hasten(system.db, 'test', system.now())
  await eventually(() => runs.begun.includes('later'))
  await query(system.db, 'select pg_terminate_backend(:pid)', { pid })
  await cause('d')
  await eventually(() => runs.begun.includes('d'))
  await listener(pid)
  for (const subject of ['e', 'f']) {
    await cause(subject)
    await eventually(() => runs.begun.includes(subject))
  }
  for (const { end } of runs.open.values()) end()
  await task.stop()
  const sessions = `select from pg_stat_activity where datname = current_database() and query = 'listen work'`
  await eventuallyIs(async () => (await query(system.db, sessions)).length, 0)
  t.deepEqual(runs.begun, ['a', 'b', 'c', 'later', 'd', 'e', 'f'])
})

test('what a process that stops gives back begins on another one without a look', async (t) => {
  const [mine, others] = [new Runs(), new Runs()]
  const task = start(t, [mine])
  await cause('a')
  await eventuallyIs(() => mine.begun, ['a'])
  const stopped = task.stop()
  const next = workTask(other, [others.kind], { pause: NEVER })
  t.teardown(() => next.stop())
  await listener()
  mine.open.get('a')!.fail(new Error('the process stops'))
  await stopped
  await eventuallyIs(() => others.begun, ['a'])
  others.open.get('a')!.end()
  await next.stop()
  t.deepEqual(await left(), [])
})

test('what a killed process was doing is done by another one when its claim has ended', async (t) => {
  await cause('a')
  // It is killed after its claim; and the next one after its effect, before it can note that.
  const claimOne = { kind: 'test', limit: 1, running: [], full: undefined }
  const [first] = await store.claim(system.db, claimOne, system.now())
  const runs = new Runs()
  runs.kind.run = async (_system, { subject }) => void runs.begun.push(subject)
  await workOff(other, [runs.kind])
  t.deepEqual(runs.begun, [])
  await endClaims()
  const [second] = await store.claim(system.db, claimOne, system.now())
  await endClaims()
  await workOff(other, [runs.kind])
  t.deepEqual(runs.begun, ['a'])
  // They stood still only, and change nothing of what others do now.
  await cause('a')
  await store.claim(system.db, claimOne, system.now())
  await store.finish(system.db, first!)
  await store.release(system.db, second!, { due: null, attempts: 9, error: 'late' })
  t.deepEqual(await store.renew(system.db, [first!.claim], [second!.id]), [])
  t.deepEqual(await left(), [{ subject: 'a', attempts: 1, claimed: true }])
})

type Run = () => Promise<string | undefined>

/** Does what is due by a process that loses its connection when it notes what came of it: Postgres carries that out, or not. */
async function workOffUnnoted(run: Run, isCarriedOut: boolean): Promise<void> {
  const proxy = await startPostgresProxy(database.url)
  const broken = open(proxy.url)
  const locker = new pg.Client(database.url)
  await locker.connect()
  let broke: Promise<unknown> | undefined
  const loseConnection = async () => {
    await eventuallyIs(() => waitingForLocks(system.db), 1)
    if (isCarriedOut) proxy.cut()
    else
      await query(
        system.db,
        `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
      )
    await locker.query('rollback')
  }
  const runThen = async () => {
    // The statement that notes it waits for this, and Postgres does not see that its client goes away meanwhile.
    await locker.query('begin')
    await locker.query('select from work for update')
    broke = loseConnection()
    return run()
  }
  try {
    await workOff(broken, [{ ...new Runs().kind, retry: [], run: runThen }])
    await broke
  } finally {
    await locker.end()
    await broken[Symbol.asyncDispose]()
    await proxy.close()
  }
}

const ENDS: Record<string, { run: Run; noted: object[] }> = {
  'it is done': { run: () => Promise.resolve(undefined), noted: [] },
  'it is to be done again': {
    run: () => Promise.resolve('2100-01-01T00:00:00.000000Z'),
    noted: [{ subject: 'a', attempts: 0, claimed: false }],
  },
  'it failed': { run: () => Promise.reject(new Error('no')), noted: [{ subject: 'a', attempts: 1, claimed: false }] },
}

for (const [what, { run, noted }] of Object.entries(ENDS)) {
  test(`if the connection breaks while a process notes that ${what}, that is noted or the work is done again`, async (t) => {
    const runs = new Runs()
    runs.kind.run = async (_system, { subject }) => void runs.begun.push(subject)
    await cause('a')
    await workOffUnnoted(run, true)
    await eventuallyIs(left, noted)
    await workOff(other, [runs.kind])
    t.deepEqual([runs.begun, await left()], [[], noted])
    await query(system.db, 'delete from work')
    await cause('a')
    await workOffUnnoted(run, false)
    await workOff(other, [runs.kind])
    t.deepEqual([runs.begun, await left()], [[], [{ subject: 'a', attempts: 1, claimed: true }]])
    await endClaims()
    await workOff(other, [runs.kind])
    t.deepEqual([runs.begun, await left()], [['a'], []])
  })
}

test('work whose row a transaction has locked waits for it, and holds up nothing else', async (t) => {
  const runs = new Runs()
  await cause('a')
  await cause('b')
  const again = { kind: 'test', subject: 'a', due: system.now() }
  const task = await transaction(system.db, async (trx) => {
    await add(system, trx, again)
    const task = start(t, [runs])
    await eventuallyIs(() => runs.begun, ['b'])
    runs.open.get('b')!.end()
    await eventuallyIs(async () => (await left()).length, 1)
    return task
  })
  await eventuallyIs(() => runs.begun, ['b', 'a'])
  runs.open.get('a')!.end()
  await task.stop()
  t.deepEqual(await left(), [])
})

test('a claim is renewed as long as the work goes on', async (t) => {
  const runs = new Runs()
  const task = start(t, [runs])
  await cause('a')
  await eventuallyIs(() => runs.begun, ['a'])
  const until = () => one<{ until: string }>(system.db, 'select claimed_until as until from work')
  const before = (await until()).until
  await eventually(async () => (await until()).until > before)
  runs.open.get('a')!.end()
  await eventuallyIs(left, [])
  await task.stop()
  t.deepEqual(runs.begun, ['a'])
})

test('a claim whose row a transaction has locked holds up the renewal of no other claim', async (t) => {
  await cause('a')
  await cause('b')
  const share = { kind: 'test', limit: 2, running: [], full: undefined }
  const [a, b] = await store.claim(system.db, share, system.now())
  const again = { kind: 'test', subject: 'a', due: system.now() }
  const [claims, ids] = [
    [a!.claim, b!.claim],
    [a!.id, b!.id],
  ]
  const renewed = await transaction(system.db, async (trx) => {
    await add(system, trx, again)
    return store.renew(other.db, claims, ids)
  })
  t.deepEqual([renewed, a!.subject, b!.subject], [[b!.id], 'a', 'b'])
  t.deepEqual((await store.renew(other.db, claims, ids)).sort(), [...ids].sort())
})

test('what fails is tried again after the pauses of its kind, and then given up; what is to be done again is', async (t) => {
  const runs = new Runs()
  const task = start(t, [runs])
  const shown = async () => (await store.list(system.db, null)).map(({ attempts, lastError }) => [attempts, lastError])
  await cause('a')
  for (const attempts of [1, 2, 3]) {
    await eventuallyIs(() => runs.begun.length, attempts)
    runs.open.get('a')!.fail(new Error(`no ${attempts}`))
    if (attempts !== 2) continue
    await eventuallyIs(shown, [[2, 'no 2']])
    t.is(await store.hasten(system.db, 'test', system.now()), 1)
  }
  await eventuallyIs(shown, [[3, 'no 3']])
  t.like((await store.list(system.db, 'test'))[0], { subject: 'a', due: null, claimed: null })
  t.regex(
    log,
    /"attempt":2,"kind":"test","level":"warn","message":"work failed","next":".*","reason":"no 2","subject":"a"/,
  )
  t.regex(
    log,
    /"attempt":3,"kind":"test","level":"error","message":"work failed; giving up","next":null,"reason":"no 3"/,
  )
  await cause('a')
  await eventuallyIs(() => runs.begun.length, 4)
  runs.open.get('a')!.end(later(system.now(), 60))
  await eventuallyIs(shown, [[0, null]])
  await task.stop()
})

test('a stop waits for what is being done; what fails meanwhile is due at once', async (t) => {
  const runs = new Runs()
  const task = start(t, [runs])
  await cause('a')
  await cause('b')
  await eventuallyIs(() => runs.begun.length, 2)
  const stopped = task.stop()
  await cause('c')
  runs.open.get('a')!.end()
  runs.open.get('b')!.fail(new Error('the process stops'))
  await stopped
  t.deepEqual(await left(), [
    { subject: 'b', attempts: 0, claimed: false },
    { subject: 'c', attempts: 0, claimed: false },
  ])
  t.is(log, '')
})

test('100,000 due pieces of an account delay neither other kinds nor other accounts', async (t) => {
  const [many, few] = [randomUUID(), randomUUID()]
  await query(
    system.db,
    `insert into work (kind, subject, account_id, due, created)
       select kind, number, :many, now() - interval '1 day', now()
       from generate_series(1, 100000) as number cross join unnest(array['test', 'plain']) as kind`,
    { many },
  )
  const fair = new Runs({ all: 4, each: 2 })
  const plain = new Runs({ kind: 'plain', all: 2 })
  const quick = new Runs({ kind: 'quick' })
  const task = start(t, [fair, plain, quick])
  await eventuallyIs(() => [fair.begun.length, plain.begun.length], [2, 2])
  await cause('x', { accountId: few })
  await cause('y', { kind: 'quick' })
  await eventuallyIs(() => [quick.begun, fair.begun.slice(2)], [['y'], ['x']])
  fair.open.get('x')!.end()
  await eventuallyIs(() => [...fair.open.keys()].length, 2)
  const stopped = task.stop()
  for (const runs of [fair, plain, quick]) for (const { end } of runs.open.values()) end()
  await stopped
  t.is(fair.begun.length, 3)
  t.is(plain.begun.length, 2)
})

test('a scan begins at once when the bell rings, and again for what was found meanwhile', async (t) => {
  const ends: (() => void)[] = []
  const scan: Scan = { name: 'found', of: 'catalog', run: () => new Promise<void>((end) => ends.push(end)) }
  const rare: Scan = { name: 'rare', pause: NEVER, run: async () => void ends.push(() => undefined) }
  const task = workTask(system, [], { scans: [rare, scan], pause: NEVER })
  await eventuallyIs(() => ends.length, 1)
  await query(system.db, `insert into catalog_members (domain_id, zone) values (1, 'waiting.example')`)
  system.workBell.ring()
  await eventuallyIs(() => ends.length, 2)
  system.workBell.ring()
  ends[1]!()
  await eventuallyIs(() => ends.length, 3)
  await query(system.db, 'delete from catalog_members')
  ends[2]!()
  await task.stop()
  t.pass()
})

test('a scan begins at the start if it has a pause, and when something is found; never twice at a time', async (t) => {
  const begun: string[] = []
  const open: { end: () => void; fail: (error: Error) => void }[] = []
  const scan = (name: string, options: Partial<Scan>): Scan => ({
    ...{ name, ...options },
    run: () =>
      new Promise<void>((end, fail) => {
        begun.push(name)
        open.push({ end, fail })
      }),
  })
  const scans = [scan('paced', { pause: 0 }), scan('rare', { pause: 3_600_000 }), scan('found', { of: 'catalog' })]
  const task = workTask(system, [], { scans })
  await eventuallyIs(() => begun, ['paced', 'rare'])
  await query(system.db, `insert into catalog_members (domain_id, zone) values (1, 'waiting.example')`)
  await eventuallyIs(() => begun, ['paced', 'rare', 'found'])
  // What has failed is done again in a second; what was found and stays so, too.
  open[0]!.end()
  open[1]!.fail(new Error('no'))
  await eventuallyIs(() => begun, ['paced', 'rare', 'found', 'paced', 'rare'])
  t.regex(log, /"message":"rare failed","reason":"no"/)
  open[2]!.end()
  await eventuallyIs(() => begun.slice(5), ['found'])
  const stopped = task.stop()
  for (const { end } of open) end()
  await stopped
  t.is(begun.length, 6)
  await query(system.db, 'delete from catalog_members')
})
