import test, { type ExecutionContext } from 'ava'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers, type TestServers } from '../support/harness.ts'
import { SEED } from '../support/random.ts'
import { PostgresPair } from '../support/servers/postgres-pair.ts'
import { FORGETFUL } from '../support/servers/postgres-server.ts'
import { startWorker, type Worker } from '../support/workers.ts'
import { addTo, runBatch, type Batch, type Counts } from './histories.ts'
import { CRASH_BOUND, drawCrashes, failoversOf, type CrashCounts } from './postgres-crashes.ts'

const BATCH = 8

/** Two services on a primary and its standby, which is promoted in each batch of histories. */
export interface Promotions {
  servers: () => TestServers
  pair: () => PostgresPair
  workers: () => Worker[]
  /** What happened in all batches. */
  total: Partial<Counts>
  ofCrashes: CrashCounts
  /** Runs a batch with a promotion, and asserts that nothing was found; then there is a standby again. */
  run: (t: ExecutionContext, round: number, options: Pick<Batch, 'ready' | 'judge'>) => Promise<void>
  /** Adds the test that database and DNS are equal. */
  testTheEnd: () => void
}

/** Starts them for a test file, and stops them after the last test. */
export function usePromotions({ isSynchronous }: { isSynchronous: boolean }): Promotions {
  let pair: PostgresPair
  const start = async () => (pair = await PostgresPair.start({ isSynchronous, settings: FORGETFUL }))
  const servers = useServers(undefined, start)
  let workers: Worker[]
  const total: Partial<Counts> = {}
  const ofCrashes: CrashCounts = { crashes: 0, held: 0, lost: 0 }

  test.serial.before('two services are started', async () => {
    const atPrimary = { DATABASE_URL: pair.urls.primary }
    workers = [await startWorker(servers(), atPrimary), await startWorker(servers(), atPrimary)]
  })

  test.after.always(async () => {
    await servers().killServices()
    for (const { postgres } of workers) await postgres.close()
  })

  return {
    ...{ servers, total, ofCrashes, pair: () => pair, workers: () => workers },
    async run(t, round, options) {
      t.timeout(600_000)
      const { failures, counts } = await runBatch(servers(), workers, {
        seed: SEED + round,
        size: BATCH,
        prefix: `batch-${round}`,
        bound: CRASH_BOUND,
        draw: (random, scene) => [
          drawCrashes(random, scene, [random.of(failoversOf(pair, random, workers))], ofCrashes),
        ],
        ...options,
      })
      addTo(total, counts)
      t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
      await pair.addStandby()
    },
    testTheEnd() {
      test.serial('in the end, database and DNS are equal', async (t) => {
        t.timeout(600_000)
        t.deepEqual(await discrepanciesInTheEnd(servers()), [])
      })
    },
  }
}
