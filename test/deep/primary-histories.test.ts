import test from 'ava'
import pLimit from 'p-limit'
import { hasBackend } from '../../src/installation/programs.ts'
import { newDomain } from '../support/clients/api.ts'
import { commandsOn } from '../support/command-line.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { startTestPair, type TestPair } from '../support/harness.ts'
import { needs } from '../support/needs.ts'
import { SEED } from '../support/random.ts'
import { makeSharedPostgres } from '../support/servers/backends.ts'
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts'
import { startOpenWorker, type Worker } from '../support/workers.ts'
import { Adoptions } from './adoptions.ts'
import { ChangeOverWatch, drawChangeOvers, keyOf, noChangeOvers } from './change-overs.ts'
import type { Fault } from './faults.ts'
import { addTo, noCounts, runBatch } from './histories.ts'
import { violations } from './history.ts'

// As histories.test.ts, with two PowerDNS, which are killed, stopped and cut off, from all processes or from one. So the
// other one takes over, by itself or by command.

/** How many histories a batch of the deep suite has. */
const BATCH = 20

/** The longest milliseconds between two requests of a client: they go on while one PowerDNS is away and the other takes over. */
const PACE = 2_500

/** Causes of change-overs without a command: many histories must have met two of them. */
const BY_ITSELF = ['killed', 'stopped', 'cut', 'hangs'] as const

/** What many histories must have met at least once. */
const DEMANDED = [
  ...(['command', 'command while a process is cut off'] as const),
  ...(['mid-write', 'mid-rollover', 'mid-adoption'] as const),
]

/** Two PowerDNS for the services. */
interface Way {
  what: string
  missing: string | undefined
  count: number
  /** Whether both have each change at the same time: then both are asked all the time, otherwise in the end. */
  isShared: boolean
  start: () => Promise<TestPair>
  ready?: (pair: TestPair, worker: Worker) => Promise<void>
}

/** Domains that nobody writes. With them, a standby may take over by itself although a few others wait to be copied. */
const IDLE = 300

const WAYS: Way[] = [
  {
    what: 'share a Postgres',
    missing: hasBackend('gpgsql') ? undefined : "PowerDNS' PostgreSQL backend is not installed",
    count: Number(process.env['HISTORIES'] ?? depth(4, 400)),
    isShared: true,
    start: async () => {
      const { settings, drop } = await makeSharedPostgres()
      const pair = await startTestPair(settings)
      return { ...pair, close: () => pair.close().finally(drop) }
    },
  },
  {
    what: 'have an LMDB each',
    missing: undefined,
    count: Number(process.env['HISTORIES'] ?? depth(0, 400)),
    isShared: false,
    start: () => startTestPair(),
    ready: async (pair, { service: { api } }) => {
      const limit = pLimit(4)
      await Promise.all(Array.from({ length: IDLE }, () => limit(() => newDomain(api))))
      const [, standby] = pair.primaries
      const [isDone, output] = await commandsOn(() => pair.system)('primary', 'sync', standby.name)
      if (!isDone) throw new Error(output)
    },
  },
]

/** These faults, and adoptions as long as they last. */
function withAdoptions(faults: Fault[], adoptions: Adoptions): Fault[] {
  let left = faults.length
  const counted = faults.map(({ what, strike }) => ({ what, strike: () => strike().finally(() => left--) }))
  return [...counted, { what: 'zones are adopted', strike: () => adoptions.goOn(() => left === 0) }]
}

for (const [kind, { what, missing, count, isShared, start, ready }] of WAYS.entries()) {
  if (count === 0) continue
  const where = needs(missing, test.serial)
  const total = noCounts()
  const changeOvers = noChangeOvers()
  /** Zones that the batches made and did not adopt. */
  const foreign: string[] = []
  let pair: TestPair
  let workers: Worker[]
  let mails: MailServer

  const startOne = (i: number) =>
    startOpenWorker(pair, mails, { PDNS_API_KEY: keyOf(i), PDNS_FAILOVER: '3', PDNS_CONNECTIONS: '3' })

  where(`two services are started on two PowerDNS that ${what}`, async (t) => {
    pair = await start()
    mails = await startMailServer()
    workers = [await startOne(0), await startOne(1)]
    t.is(pair.system.primaries.members.length, 2)
    await ready?.(pair, workers[0]!)
  })

  for (let first = 0; first < count; first += BATCH) {
    const seed = SEED + first / BATCH
    const size = Math.min(BATCH, count - first)
    const which = `histories ${first + 1} to ${first + size}`
    where(
      `whatever happens to two PowerDNS that ${what}, API and DNS show what was acknowledged, and nothing that was refused: ${which}`,
      async (t) => {
        const prefix = `batch-${kind}-${first}`
        const adoptions = new Adoptions(pair, `${prefix}-adopted`)
        const watch = new ChangeOverWatch(pair)
        const { failures, counts } = await runBatch(pair, pair.primaries, workers, mails, {
          ...{ seed, size, prefix, pace: PACE },
          ...(isShared ? {} : { observed: [] }),
          draw: (random, scene) => withAdoptions(drawChangeOvers(random, scene, pair, watch), adoptions),
          judge: (history) => {
            watch.count(history, changeOvers)
            return violations(history)
          },
        })
        await watch.end(changeOvers, adoptions)
        foreign.push(...adoptions.foreign)
        addTo(total, counts)
        t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
        t.deepEqual(await adoptions.problems(), [])
      },
    )
  }

  where(`after the histories with two PowerDNS that ${what}, database and DNS are equal`, async (t) => {
    for (const primary of pair.primaries) t.deepEqual(await discrepanciesInTheEnd({ ...pair, ...primary }, foreign), [])
  })

  where(`the histories with two PowerDNS that ${what} had writes that succeeded, and others, and change-overs`, (t) => {
    t.log(total, changeOvers)
    t.true(total.done > 0 && total.looks > 3 * count)
    // In fewer, chance decides.
    if (count < 400) return
    t.true(total.done > count && total.refused > count / 2 && total.rollovers > count / 4)
    t.true(changeOvers.histories > count / 2 && changeOvers.adopted > count / 40)
    for (const what of DEMANDED) t.true(changeOvers[what] > 0, what)
    t.true(BY_ITSELF.filter((what) => changeOvers[what] > 0).length > 1)
  })

  test.after.always(`the services on two PowerDNS that ${what} stop`, async () => {
    await (pair as TestPair | undefined)?.killServices()
    for (const { postgres } of (workers as Worker[] | undefined) ?? []) await postgres.close()
    await (mails as MailServer | undefined)?.close()
    await (pair as TestPair | undefined)?.close()
  })
}
