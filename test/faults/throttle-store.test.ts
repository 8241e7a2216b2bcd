import test from 'ava'
import { COUNTING_TIME } from '../../src/process/create-system.ts'
import { createCounters } from '../../src/service/throttling/counters.ts'
import { openDatabase, query, transaction } from '../../src/store/database.ts'
import { growthOf } from '../metrics/scrape.ts'
import type { Account } from '../support/clients/accounts.ts'
import { type Answer, Client } from '../support/clients/client.ts'
import { defer, eventually } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { type Gate, startGate } from '../support/servers/gate.ts'
import { startService } from '../support/servers/service.ts'

// Contract §14, counted in Postgres: processes share the counts. While Postgres is unavailable, each counts in memory.

const LIMIT = 30
const service = useService({
  ...{ THROTTLE: 'on', THROTTLE_STORE: 'postgres', THROTTLE_RATES: `dns_api_cheap=${LIMIT}/d`, METRICS_PORT: '0' },
})

let gate: Gate
let account: Account

test.before('a gate before the counters in Postgres', async () => {
  const { system, backends } = service()
  gate = await startGate(backends.databaseUrl)
  await system.pools.counters.end()
  system.pools.counters = openDatabase(gate.url, 4, COUNTING_TIME)
})

test.beforeEach('nothing is counted yet', async () => {
  const { system } = service()
  system.counters = createCounters(system.config, system.pools.counters, system.log, system.metrics)
  account = await service().account()
})

test.after.always('the gate is shut', async () => {
  await gate.shut()
})

function warnings(): number {
  return service().logged().split('"Postgres does not count requests; counting in memory"').length - 1
}

/** How many requests Postgres has counted for the account. */
async function counted(): Promise<number> {
  const sql = 'select points from throttle where key like :key'
  const [row] = await query<{ points: number }>(service().system.db, sql, { key: `dns_api_cheap%${account.id}%` })
  return row?.points ?? 0
}

test.serial('two processes together accept no more requests than the limit', async (t) => {
  const { system, clientOf, stop } = await startService(service().backends, {
    ...{ THROTTLE: 'on', THROTTLE_STORE: 'postgres', THROTTLE_RATES: `dns_api_cheap=${LIMIT}/d` },
  })
  // Without COUNTING_TIME, which a busy machine may exceed.
  for (const one of [service().system, system]) one.counters = createCounters(one.config, one.db, one.log)
  try {
    const clients = [account.api, clientOf(account.secret)]
    const ask = async (client: Client) => {
      const statuses = []
      for (let i = 0; i < LIMIT / 2; i++) statuses.push((await client.get('/domains/')).status)
      return statuses
    }
    const statuses = await Promise.all(Array.from({ length: 4 }, (_, i) => ask(clients[i % 2]!)))
    t.is(statuses.flat().filter((status) => status === 200).length, LIMIT)
  } finally {
    await stop()
  }
})

/** Faults of Postgres: each function begins one, and returns a function that ends it. */
const FAULTS: [string, () => Promise<() => Promise<void>>][] = [
  [
    'is unreachable',
    async () => {
      await gate.shut()
      return () => gate.open()
    },
  ],
  [
    'does not answer',
    async () => {
      const [begun, ended] = [defer(), defer()]
      const locking = transaction(service().system.db, async (trx) => {
        await query(trx, 'lock table throttle in access exclusive mode')
        begun.resolve()
        await ended.promise
      })
      await begun.promise
      return async () => {
        ended.resolve()
        await locking
      }
    },
  ],
]

for (const [what, begin] of FAULTS) {
  test.serial(`if Postgres ${what}, memory counts and one warning is logged; then Postgres counts again`, async (t) => {
    const ask = () => account.api.get('/domains/')
    const rejected = (answers: Answer[]) => answers.filter(({ status }) => status === 429).length
    const before = warnings()
    // One after the other, because Postgres has COUNTING_TIME for each, also on a busy machine.
    const answers = []
    for (let i = 0; i < LIMIT + 5; i++) answers.push(await ask())
    t.is(rejected(answers), 5)
    t.is(await counted(), LIMIT)
    t.is(warnings(), before)
    // A process remembers for a second that the window is full.
    account = await service().account()
    const end = await begin()
    try {
      const grown = await growthOf(service(), async () => {
        // Memory begins at zero.
        t.is(rejected(await Promise.all(Array.from({ length: LIMIT + 5 }, ask))), 5)
      })
      t.is(grown.get('zoneplane_counted_in_memory_total'), LIMIT + 5)
    } finally {
      await end()
    }
    t.is(warnings(), before + 1)
    account = await service().account()
    await eventually(async () => {
      await ask()
      return (await counted()) > 0
    })
    t.is(warnings(), before + 1)
  })
}
