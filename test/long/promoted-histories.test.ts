import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDomain, rrset } from '../support/api.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { endDoubt } from '../support/marks.ts'
import { SEED } from '../support/random.ts'
import { PostgresPair } from '../support/servers/postgres-pair.ts'
import { FORGETFUL } from '../support/servers/postgres-server.ts'
import { startWorker, type Worker } from '../support/workers.ts'
import { addTo, runBatch, type Counts } from './histories.ts'
import { CRASH_BOUND, drawCrashes, failoversOf, type CrashCounts } from './postgres-crashes.ts'

// The histories of histories.test.ts, in which a synchronous standby is promoted while changes are under way to PowerDNS. It
// has all that was acknowledged, and all marks.

const PROMOTIONS = Number(process.env['PROMOTIONS'] ?? 10)
const BATCH = 8

let pair: PostgresPair
const start = async () => (pair = await PostgresPair.start({ isSynchronous: true, settings: FORGETFUL }))
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
  test.serial(
    `whatever a standby lacks, API and DNS show what was acknowledged, and nothing that was refused: promotion ${round + 1}`,
    async (t) => {
      t.timeout(600_000)
      const { failures, counts } = await runBatch(servers(), workers, {
        seed: SEED + round,
        size: BATCH,
        prefix: `batch-${round}`,
        bound: CRASH_BOUND,
        draw: (random, scene) => [
          drawCrashes(random, scene, [random.of(failoversOf(pair, random, workers))], ofCrashes),
        ],
        ready: async () => {
          if (round % 4 !== 3) await endDoubt(servers())
        },
      })
      addTo(total, counts)
      t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
      await pair.addStandby()
    },
  )
}

test.serial('in the end, database and DNS are equal', async (t) => {
  t.timeout(600_000)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test.serial('the histories had writes that succeeded, were refused, and failed, and promotions lost no mark', (t) => {
  t.log(total, ofCrashes)
  const { done = 0, refused = 0, failed = 0, unknown = 0 } = total
  t.true(done > 0 && refused > 0 && failed + unknown > 0 && ofCrashes.held > 0)
  t.is(ofCrashes.lost, 0)
})

test.serial('what no standby confirms does not reach PowerDNS', async (t) => {
  const { api } = workers[0]!.service
  const name = await newDomain(api, 'unconfirmed.example')
  await pair.holdUpStandby()
  servers().proxy.calls.length = 0
  const answering = api.post(`/domains/${name}/rrsets/`, rrset()).catch(() => undefined)
  t.is(await Promise.race([answering, sleep(3_000, 'none')]), 'none')
  t.deepEqual(
    servers().proxy.calls.filter(({ method }) => method === 'PATCH'),
    [],
  )
})
