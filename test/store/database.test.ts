import test from 'ava'
import fc from 'fast-check'
import { query } from '../../src/store/database.ts'
import { depth } from '../support/depth.ts'
import { useService } from '../support/harness.ts'

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
