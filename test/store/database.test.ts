import test from 'ava'
import fc from 'fast-check'
import { Unavailable } from '../../src/errors.ts'
import { type Db, one, query, together, transaction } from '../../src/store/database.ts'
import { depth } from '../support/depth.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { openPatiently } from '../support/servers/postgres/databases.ts'
import { startPostgresProxy } from '../support/servers/postgres/postgres-proxy.ts'

const service = useService()

/** Texts with a meaning in the syntax of arrays, and any others; Postgres accepts no NUL. */
const TEXTS = fc.array(
  fc.oneof(
    fc.constantFrom('', 'NULL', 'null', ' ', ',', '{}', '"', '\\', 'a b', '10.0.0.1'),
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
  ),
)

test('arrays of texts are returned as they were sent', async (t) => {
  const { db } = service().system
  await fc.assert(
    fc.asyncProperty(TEXTS, async (texts) => {
      t.deepEqual(await query(db, 'select :texts::text[] as texts', { texts }), [{ texts }])
    }),
    { numRuns: depth(300, 2000) },
  )
})

test('a result of 100,000 rows is complete', async (t) => {
  const rows = await query<{ n: number; text: string }>(
    service().system.db,
    `select n, repeat('x', n % 300) as text from generate_series(1, 100000) as n`,
  )
  t.is(rows.length, 100_000)
  for (const [i, { n, text }] of rows.entries()) if (n !== i + 1 || text !== 'x'.repeat(n % 300)) t.fail(`row ${i}`)
})

test('a statement returns the same columns each time on a connection, although Postgres describes them once', async (t) => {
  const pool = openPatiently(service().backends.databaseUrl, 1, 0)
  const sql = `select 12 / cast(:by as integer) as "of", null as none, array['a,b', 'c'] as texts, now() > 'epoch' as late
    from generate_series(1, cast(:rows as integer))`
  const ask = async (by: number, rows = 2) => query(pool, sql, { by, rows })
  const row = (of: number) => ({ of, none: null, texts: ['a,b', 'c'], late: true })
  try {
    await t.throwsAsync(ask(0), { message: /division by zero/ })
    t.deepEqual(await ask(1, 0), [])
    t.deepEqual(await ask(2), [row(6), row(6)])
    await t.throwsAsync(ask(0), { message: /division by zero/ })
    t.deepEqual(await Promise.all([ask(3, 1), ask(4), ask(6, 0)]), [[row(4)], [row(3), row(3)], []])
    await query(pool, 'create temporary table counted (n integer)')
    for (const n of [1, 2]) t.deepEqual(await query(pool, 'insert into counted values (:n)', { n }), [])
    for (const n of [1, 2])
      t.deepEqual(await query(pool, 'delete from counted where n = :n returning n', { n }), [{ n }])
    const client = await pool.connect()
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
    let described = 0
    connection.on('rowDescription', () => described++)
    t.deepEqual(await query(client, sql, { by: 1, rows: 1 }), [row(12)])
    t.is(described, 0)
    t.deepEqual(await query(client, 'select 1 as other'), [{ other: 1 }])
    t.is(described, 1)
    client.release()
  } finally {
    await pool.end()
  }
})

/** Milliseconds for a statement, where one shall take too long. */
const TIME = 500

const pidOf = async (db: Db) => (await one<{ pid: number }>(db, 'select pg_backend_pid() as pid')).pid

test('a connection that answers nothing any more is replaced, and nobody else gets it', async (t) => {
  const proxy = await startPostgresProxy(service().backends.databaseUrl)
  const pool = openPatiently(proxy.url, 1, TIME)
  // On a busy machine, Postgres may need longer than TIME.
  const pid = () => eventually(() => pidOf(pool).catch(() => undefined))
  try {
    for (const ask of [() => pidOf(pool), () => together(pool, pidOf), () => transaction(pool, pidOf)]) {
      const before = await pid()
      proxy.hang()
      const next = ask().catch((error: unknown) => {
        t.true(error instanceof Unavailable)
        return pid()
      })
      t.not(await next, before)
    }
  } finally {
    await proxy.close()
    await pool.end()
  }
})

test('Postgres ends statements that take too long, but in transactions they have more time', async (t) => {
  const { databaseUrl } = service().backends
  const pool = openPatiently(databaseUrl, 1, TIME, { inTransaction: 0 })
  const sleep = (db: Db, time: number) => query(db, `select pg_sleep(:time)`, { time })
  try {
    await transaction(pool, (trx) => sleep(trx, (2 * TIME) / 1_000))
    for (const ask of [() => sleep(pool, 3600), () => together(pool, (db) => sleep(db, 3600))]) {
      await t.throwsAsync(ask, { instanceOf: Unavailable })
    }
    const sleeping = `select from pg_stat_activity
      where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`
    await eventuallyIs(async () => (await query(service().system.db, sleeping)).length, 0)
  } finally {
    await pool.end()
  }
})
