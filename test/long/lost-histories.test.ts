import test from 'ava'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { endDoubt } from '../support/marks.ts'
import { SEED } from '../support/random.ts'
import { PostgresPair } from '../support/servers/postgres-pair.ts'
import { FORGETFUL } from '../support/servers/postgres-server.ts'
import { startWorker, type Worker } from '../support/workers.ts'
import { addTo, runBatch, type Counts } from './histories.ts'
import { violationsDespiteLoss } from './history.ts'
import { CRASH_BOUND, drawCrashes, failoversOf, type CrashCounts } from './postgres-crashes.ts'

// The histories of histories.test.ts, in which an asynchronous standby is promoted. It may lack acknowledged changes, and
// the marks of those that are under way to PowerDNS. Whatever it has, DNS is in the end what it says, and nothing that was
// refused is shown.

const PROMOTIONS = 6
const BATCH = 8

let pair: PostgresPair
const start = async () => (pair = await PostgresPair.start({ isSynchronous: false, settings: FORGETFUL }))
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

for (let round = 0; round < PROMOTIONS; round++) {
  test.serial(`no zone stays different, and nothing that was refused is shown: promotion ${round + 1}`, async (t) => {
    t.timeout(600_000)
    const { failures, counts } = await runBatch(servers(), workers, {
      seed: SEED + round,
      size: BATCH,
      prefix: `batch-${round}`,
      bound: CRASH_BOUND,
      draw: (random, scene) => [drawCrashes(random, scene, [random.of(failoversOf(pair, random, workers))], ofCrashes)],
      ready: async () => {
        // The domains are not lost.
        await pair.awaitStandby()
        if (round % 2 === 0) await pair.holdUpStandby()
        else await endDoubt(servers())
      },
      judge: violationsDespiteLoss,
    })
    addTo(total, counts)
    t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
    await pair.addStandby()
  })
}

test.serial('in the end, database and DNS are equal', async (t) => {
  t.timeout(600_000)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test.serial('the histories had writes of all outcomes, and promotions that lost marks', (t) => {
  t.log(total, ofCrashes)
  const { done = 0, refused = 0, failed = 0, unknown = 0 } = total
  t.true(done > 0 && refused > 0 && failed + unknown > 0 && ofCrashes.lost > 0)
})
