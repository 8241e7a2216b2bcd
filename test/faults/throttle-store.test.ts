import test from 'ava'
import { PostgresCounters } from '../../src/service/throttling/postgres-counters.ts'
import { openDatabase, query, transaction } from '../../src/store/database.ts'
import type { Account } from '../support/accounts.ts'
import { Client, type Answer } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startGate, type Gate } from '../support/servers/gate.ts'
import { useService } from '../support/harness.ts'
import { startService } from '../support/servers/service.ts'

// Contract §14, counted in Postgres: processes share their counts, and when these are not to be had nobody waits.

const LIMIT = 30
const service = useService({ THROTTLE: 'on', THROTTLE_STORE: 'postgres', THROTTLE_RATES: `dns_api_cheap=${LIMIT}/d` })

let gate: Gate
let account: Account

test.before('a way to the counts that can be shut', async () => {
  const { system, backends } = service()
  gate = await startGate(backends.databaseUrl)
  await system.counters!.close()
  system.counters = new PostgresCounters(openDatabase(gate.url, 4), system.log)
})

test.beforeEach('nothing is counted yet', async () => {
  account = await service().account()
})

test.after.always('the gate closes', async () => {
  await gate.shut()
})

/** Only what was counted, or rejected, tells how much is left. */
function isCounted({ headers }: Answer): boolean {
  return headers['ratelimit'] !== undefined
}

function warnings(): number {
  return service().logged().split('"requests are not throttled"').length - 1
}

test.serial('two processes let through no more than the limit, and one each', async (t) => {
  const { clientOf, stop } = await startService(service().backends, {
    ...{ THROTTLE: 'on', THROTTLE_STORE: 'postgres', THROTTLE_RATES: `dns_api_cheap=${LIMIT}/d` },
  })
  try {
    const clients = [account.api, clientOf(account.secret)]
    const answers: Answer[] = []
    const rejected = () => answers.filter(({ status }) => status === 429)
    const ask = async (client: Client) => {
      while (rejected().length < LIMIT) answers.push(await client.get('/domains/'))
    }
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(clients[i % 2]!)))
    const passed = answers.filter((answer) => isCounted(answer) && answer.status === 200)
    t.true(passed.length >= LIMIT && passed.length <= LIMIT + 2, `${passed.length} passed`)
    t.is(passed.length + rejected().length, answers.filter(isCounted).length)
  } finally {
    await stop()
  }
})

/** Makes trouble, and what ends it. */
const TROUBLE: [string, () => Promise<() => Promise<void>>][] = [
  [
    'is away',
    async () => {
      await gate.shut()
      return () => gate.open()
    },
  ],
  [
    'does not answer',
    async () => {
      let end!: () => void
      const ended = new Promise<void>((resolve) => (end = resolve))
      let begun!: () => void
      const hasBegun = new Promise<void>((resolve) => (begun = resolve))
      const locking = transaction(service().system.db, async (trx) => {
        await query(trx, 'lock table throttle in access exclusive mode')
        begun()
        await ended
      })
      await hasBegun
      return async () => {
        end()
        await locking
      }
    },
  ],
]

for (const [what, begin] of TROUBLE) {
  test.serial(`when the store of counts ${what}, requests pass, the log says so once, and it recovers`, async (t) => {
    const ask = () => account.api.get('/domains/')
    t.true(isCounted(await ask()))
    const before = warnings()
    const end = await begin()
    try {
      // More than the rate allows, all at once: those who find out together tell once.
      const answers = await Promise.all(Array.from({ length: LIMIT + 5 }, ask))
      t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
      t.false(answers.some(isCounted))
      t.is(warnings(), before + 1)
    } finally {
      await end()
    }
    await eventually(async () => isCounted(await ask()))
    t.is(warnings(), before + 1)
    const answers = []
    for (let i = 0; i < LIMIT + 1; i++) answers.push((await ask()).status)
    t.true(answers.includes(429))
  })
}
