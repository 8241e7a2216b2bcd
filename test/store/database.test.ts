import test from 'ava'
import fc from 'fast-check'
import { Unavailable } from '../../src/errors.ts'
import { one, openDatabase, query } from '../../src/store/database.ts'
import { depth } from '../support/depth.ts'
import { useService } from '../support/harness.ts'
import { startPostgresProxy } from '../support/servers/postgres-proxy.ts'

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

test('a session that Postgres ends as soon as it has begun makes one statement fail, and nothing else', async (t) => {
  const proxy = await startPostgresProxy(service().backends.databaseUrl)
  const url = new URL(proxy.url)
  // Of two servers, one does not run.
  const pool = openDatabase(proxy.url.replace(url.host, `${url.host},127.0.0.1:1`), 1)
  t.teardown(async () => {
    await pool.end()
    await proxy.close()
  })
  // Two connections look for the primary.
  let connections = 0
  proxy.atStart(() => ++connections === 3)
  await t.throwsAsync(one(pool, 'select 1 as n'), { instanceOf: Unavailable })
  t.is(connections, 3)
  t.deepEqual(await one(pool, 'select 1 as n'), { n: 1 })
})
