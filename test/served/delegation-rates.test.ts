import test from 'ava'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Parents } from '../../src/nameserver/parents/parents.ts'
import type { Endpoint } from '../../src/nameserver/wire/client.ts'
import type { Question, Reply } from '../../src/nameserver/wire/messages.ts'
import { checkDue } from '../../src/service/delegation/checking.ts'
import { one, query } from '../../src/store/database.ts'
import type { System } from '../../src/system.ts'
import { later } from '../../src/time.ts'
import { depth } from '../support/depth.ts'
import { SimulatedClock } from '../support/dns/simulated-clock.ts'
import { answer, RESOLVER } from '../support/dns/simulated-parents.ts'
import { useServers } from '../support/harness.ts'

// Contract §15.9: a simulation of the checks of many domains below one parent. Its nameservers answer in memory. The clock
// leaps to the next moment for which anybody waits as soon as Postgres is idle.

// No service runs: it would make zones of the domains.
const servers = useServers()

const DOMAINS = depth(300, 100_000)
const START = '2026-01-31T12:00:00.000000Z'

const clock = new SimulatedClock()

/** The times of the latest questions to all servers, and of the latest one to each. */
const latest: number[] = []
const perServer = new Map<string, number>()
let questions = 0
/** What was asked too early. */
const violations: string[] = []

function note(server: string | undefined): void {
  questions++
  const now = clock.now()
  latest.push(now)
  if (latest.length > 11) latest.shift()
  // Eleven questions take a second at least. The sums of pauses have rounding errors.
  if (latest.length === 11 && now - latest[0]! < 999) violations.push(`11 questions within ${now - latest[0]!} ms`)
  if (server === undefined) return
  const before = perServer.get(server)
  if (before !== undefined && now - before < 999) violations.push(`${server} again after ${now - before} ms`)
  perServer.set(server, now)
}

/** Parents that are asked in memory. */
class SimulatedParents extends Parents {
  protected override send(endpoint: Endpoint, question: Question): Promise<Reply> {
    note(endpoint.address === RESOLVER ? undefined : endpoint.address)
    return Promise.resolve(answer(endpoint, question))
  }
}

test('many domains below one parent are checked at the rates of the contract, at constant memory', async (t) => {
  const { system: real, owner } = servers()
  await query(
    real.db,
    `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
     select 'n' || n || '.example', :id, 60, 1, 0, cast(:start as timestamptz) - interval '30 days', now(), now()
     from generate_series(1, cast(:count as integer)) as n`,
    { id: owner.id, count: DOMAINS, start: START },
  )
  const plans = `update delegations set waits = null, due = cast(:start as timestamptz) + random() * interval '1 day'`
  await query(real.db, plans, { start: START })
  const resolvers = [{ address: RESOLVER, port: 53 }]
  const parents = new SimulatedParents({ resolvers, isAllowed: () => true, clock })
  const dnskey = `257 3 13 ${Buffer.alloc(64, 1).toString('base64')}`
  const nameserver = { keys: () => Promise.resolve([{ dnskey, ds: [], flags: 257, keytype: 'csk' }]) }
  const now = () => later(START, Math.floor(clock.now() / 1000))
  const system = { ...real, parents, now, nameserver } as unknown as System
  const checked = async () =>
    (await one<{ n: number }>(real.db, 'select count(*) as n from delegations where checked is not null')).n

  const during = <T>(work: Promise<T>): Promise<T> =>
    clock.during(work, () => {
      const { totalCount, idleCount, waitingCount } = real.db
      // The lock of the checks has one connection.
      return totalCount - idleCount <= 1 && waitingCount === 0
    })

  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const never = new AbortController().signal
  let early = 0
  for (let done = 0; done < DOMAINS; done = await checked()) {
    const before = questions
    await during(checkDue(system, never))
    if (questions === before) clock.pass(60_000)
    if (early === 0 && done > DOMAINS / 10) early = heap()
  }
  const growth = (heap() - early) / 2 ** 20
  const days = clock.now() / 86_400_000
  t.log(
    `${DOMAINS} domains: ${questions} questions in ${days.toFixed(2)} days; the heap grew by ${growth.toFixed(1)} MiB`,
  )
  t.deepEqual(violations.slice(0, 10), [])
  t.true(questions > 5 * DOMAINS)
  t.true(growth < 10, `the heap grew by ${growth} MiB`)
})
