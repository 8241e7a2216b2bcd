import test from 'ava'
import fc from 'fast-check'
import { createLog } from '../../src/log.ts'
import type { Meter, Window } from '../../src/service/throttling/counters.ts'
import { MemoryCounters } from '../../src/service/throttling/memory-counters.ts'
import { PostgresCounters } from '../../src/service/throttling/postgres-counters.ts'
import { openDatabase, query } from '../../src/store/database.ts'
import * as store from '../../src/store/throttle.ts'
import { createDatabase } from '../support/servers/servers.ts'
import { statementsOf } from '../support/statements.ts'

// Contract §14: a sliding window, all rates must allow, what is rejected is not counted. Both stores, one set of rules.

const START = Date.parse('2026-03-01T00:00:00Z')

let database: Awaited<ReturnType<typeof createDatabase>>
let db: ReturnType<typeof openDatabase>
let postgres: PostgresCounters

test.before('a database', async () => {
  database = await createDatabase()
  db = openDatabase(database.url, 2)
  postgres = new PostgresCounters(openDatabase(database.url, 2), createLog('error'))
})

test.after.always('the database is dropped', async () => {
  await postgres.close()
  await db.end()
  await database.drop()
})

/** The rules once more, in the plainest way: every counted request is kept, and looked at each time. */
class Model {
  readonly #times = new Map<string, number[]>()

  count(meters: Meter[], now: number, look: boolean) {
    const windows = meters.flatMap(({ key, rates }) => {
      const times = this.#times.get(key) ?? []
      return rates.map(({ requests, seconds }): Window => {
        const length = seconds * 1000
        const inside = times.filter((time) => time > now - length)
        const blocking = requests === 0 ? now : inside.at(-requests)
        return {
          used: inside.length,
          leaves: inside.length === 0 ? null : inside[0]! + length,
          opens: inside.length < requests ? null : blocking! + length,
        }
      })
    })
    const counted = !look && windows.every(({ opens }) => opens === null)
    if (counted) for (const { key } of meters) this.#times.set(key, [...(this.#times.get(key) ?? []), now])
    return { counted, windows }
  }
}

/** The windows of each key; their quotas change, as settings do and what an account may. */
const LENGTHS = { a: [1], b: [1, 60], c: [2, 5, 60] }
const quota = fc.integer({ min: 0, max: 6 })
const meter = fc.constantFrom(...(Object.keys(LENGTHS) as (keyof typeof LENGTHS)[])).chain((key) =>
  fc.record({
    key: fc.constant(key),
    rates: fc.tuple(...LENGTHS[key].map((seconds) => quota.map((requests) => ({ requests, seconds })))),
  }),
)
const pause = fc.oneof(fc.constantFrom(0, 1, 999, 1000, 1001, 5000), fc.integer({ min: 0, max: 70_000 }))
const sequences = fc.array(
  fc.record({
    meters: fc.uniqueArray(meter, { selector: ({ key }) => key, minLength: 1, maxLength: 3 }),
    pause,
    look: fc.boolean(),
  }),
  { maxLength: 60 },
)

for (const [name, open, numRuns] of [
  ['memory', () => new MemoryCounters(), 2000],
  ['Postgres', () => postgres, 60],
] as const) {
  test.serial(`counts in ${name} are those of a list of all requests`, async (t) => {
    let serial = 0
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const counters = open()
        const model = new Model()
        const prefix = `${serial++}`
        let now = START
        for (const { meters, pause, look } of sequence) {
          now += pause
          const expected = model.count(meters, now, look)
          const own = meters.map(({ key, rates }) => ({ key: `${prefix} ${key}`, rates }))
          t.deepEqual(await counters.count(own, now, { look }), expected)
        }
      }),
      { numRuns },
    )
  })

  test.serial(`for a key in ${name}, time does not go back`, async (t) => {
    const counters = open()
    const meters = [{ key: 'clock', rates: [{ requests: 3, seconds: 10 }] }]
    await counters.count(meters, START + 5_000)
    t.deepEqual(await counters.count(meters, START), {
      counted: true,
      windows: [{ used: 1, leaves: START + 15_000, opens: null }],
    })
    t.deepEqual(await counters.count(meters, START + 14_999, { look: true }), {
      counted: false,
      windows: [{ used: 2, leaves: START + 15_000, opens: null }],
    })
    t.like(await counters.count(meters, START + 15_000, { look: true }), { windows: [{ used: 0 }] })
  })
}

test.serial('what is in no window any more leaves memory, whoever comes next', async (t) => {
  const counters = new MemoryCounters()
  const rates = [{ requests: 10, seconds: 60 }]
  for (let i = 0; i < 1000; i++) await counters.count([{ key: `${i}`, rates }], START)
  const full = counters.weight
  for (let i = 0; i < 1000; i++) await counters.count([{ key: 'another', rates }], START + 60_000 + i * 6_000)
  t.true(counters.weight < full / 500, `${counters.weight} of ${full}`)
})

test.serial(
  'however many callers there are, memory holds no more than it may; the latest are remembered',
  async (t) => {
    const most = 10_000
    const counters = new MemoryCounters(most)
    const rates = [{ requests: 3, seconds: 86_400 }]
    for (let i = 0; i < 20_000; i++) {
      await counters.count([{ key: `address ${i}`, rates }], START + i)
      await counters.count([{ key: 'regular', rates }], START + i)
      t.true(counters.weight <= most)
    }
    const look = async (key: string) =>
      (await counters.count([{ key, rates }], START + 20_000, { look: true })).windows[0]
    t.is((await look('regular'))!.used, 3)
    t.is((await look('address 19999'))!.used, 1)
    t.is((await look('address 0'))!.used, 0)
  },
)

test.serial('what is in no window any more leaves the table, and of too much the oldest', async (t) => {
  const own = new PostgresCounters(openDatabase(database.url, 2), createLog('error'))
  const rates = [{ requests: 1000, seconds: 60 }]
  await query(db, 'delete from throttle')
  for (let i = 0; i < 5; i++) await store.count(db, [{ key: 'old', rates }], START, false)
  for (let i = 0; i < 5; i++) await store.count(db, [{ key: 'new', rates }], START + 30_000 + i, false)
  await own.count([{ key: 'last', rates }], START + 60_000)
  await own.close()
  t.deepEqual(await rows(), { new: 5, last: 1 })
  await store.sweep(db, START + 60_000, 3)
  t.deepEqual(await rows(), { new: 2, last: 1 })
  const { windows } = await store.count(db, [{ key: 'new', rates }], START + 60_000, true)
  t.deepEqual(windows, [{ used: 2, leaves: START + 90_003, opens: null }])
})

async function rows(): Promise<Record<string, number>> {
  const found = await query<{ key: string; rows: number }>(
    db,
    'select key, count(*) as rows from throttle group by key',
  )
  return Object.fromEntries(found.map(({ key, rows }) => [key, rows]))
}

test.serial('a request is one statement, and none that fails is counted anywhere', async (t) => {
  const meters = [
    { key: 'narrow', rates: [{ requests: 1, seconds: 60 }] },
    { key: 'wide', rates: [{ requests: 100, seconds: 60 }] },
  ]
  const statements = await statementsOf(async () => {
    for (let i = 0; i < 5; i++) await postgres.count(meters, START + i)
  })
  t.is(statements.filter((text) => !text.startsWith('delete') && !text.includes('set timezone')).length, 5)
  t.like(await postgres.count(meters, START + 5, { look: true }), { windows: [{ used: 1 }, { used: 1 }] })
})

test.serial('requests at once are counted one by one, whatever the order of their keys', async (t) => {
  const other = new PostgresCounters(openDatabase(database.url, 4), createLog('error'))
  const rates = [{ requests: 50, seconds: 60 }]
  const meters = ['x', 'y', 'z'].map((key) => ({ key, rates }))
  const counts = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      [postgres, other][i % 2]!.count(i % 3 === 0 ? meters : meters.toReversed(), START),
    ),
  )
  await other.close()
  t.is(counts.filter((count) => count!.counted).length, 50)
  t.like(await postgres.count(meters, START, { look: true }), { windows: [{ used: 50 }, { used: 50 }, { used: 50 }] })
})
