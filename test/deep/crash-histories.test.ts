import test from 'ava'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventually } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { endDoubt } from '../support/marks.ts'
import { Random, SEED } from '../support/random.ts'
import { FORGETFUL, PostgresServer } from '../support/servers/postgres-server.ts'
import type { Fate } from '../support/servers/proxy.ts'
import { startWorker, type Worker } from '../support/workers.ts'
import { drawFaults } from './faults.ts'
import { addTo, runBatch, type Counts } from './histories.ts'
import { CRASH_BOUND, crashesOf, drawCrashes, type CrashCounts } from './postgres-crashes.ts'
import { createWorkload } from './workload.ts'

// The histories of histories.test.ts, in which Postgres crashes, too, and loses what it had not yet written: marks of changes
// that are under way to PowerDNS. At the same time, services are killed, and PowerDNS gets the changes late.

const HISTORIES = Number(process.env['HISTORIES'] ?? 320)
const BATCH = 20

let postgres: PostgresServer
const servers = useServers(undefined, async () => (postgres = await PostgresServer.start(FORGETFUL)))
let workers: Worker[]
const total: Partial<Counts> = {}
const ofCrashes: CrashCounts = { crashes: 0, held: 0, lost: 0 }

test.serial.before('two services are started', async () => {
  workers = [await startWorker(servers()), await startWorker(servers())]
})

test.after.always(async () => {
  await servers().killServices()
  for (const worker of workers) await worker.postgres.close()
})

for (let first = 0; first < HISTORIES; first += BATCH) {
  const size = Math.min(BATCH, HISTORIES - first)
  test.serial(
    `whatever a crash of Postgres loses, API and DNS show what was acknowledged, and nothing that was refused: histories ${first + 1} to ${first + size}`,
    async (t) => {
      t.timeout(600_000)
      const { failures, counts } = await runBatch(servers(), workers, {
        seed: SEED + first / BATCH,
        size,
        prefix: `batch-${first / BATCH}`,
        bound: CRASH_BOUND,
        draw(random, scene) {
          const number = random.of([1, 1, 2])
          const crashes = Array.from({ length: number }, () => random.of(crashesOf(postgres, random)))
          const others = random.of([[], drawFaults(random, scene)])
          return [...others, drawCrashes(random, scene, crashes, ofCrashes)]
        },
        // Also crashes just after a crash.
        ready: async () => {
          if ((first / BATCH) % 4 !== 3) await endDoubt(servers())
        },
      })
      addTo(total, counts)
      t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
    },
  )
}

test.serial('in the end, database and DNS are equal', async (t) => {
  t.timeout(600_000)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test.serial('the histories had writes of all outcomes, and crashes that lost marks', (t) => {
  t.log(total, ofCrashes)
  const { done = 0, refused = 0, failed = 0, unknown = 0, looks = 0 } = total
  t.true(done > HISTORIES && refused > HISTORIES / 2 && looks > 10 * HISTORIES)
  if (HISTORIES >= 200) {
    t.true(failed > HISTORIES / 4 && unknown > HISTORIES / 10)
    t.true(ofCrashes.lost > 0)
  }
})

const workload = createWorkload('crash', 4, 4)

for (let round = 1; round <= 6; round++) {
  test.serial(`no acknowledged creation or deletion of a domain is lost: crash ${round}`, async (t) => {
    t.timeout(600_000)
    const random = new Random(SEED + round)
    const { api } = workers[0]!.service
    const running = workload.run(api)
    const enough = workload.counts.acknowledged + 20 + random.below(50)
    await eventually(() => workload.counts.acknowledged > enough)
    const blow = await random.of(crashesOf(postgres, random)).ready()
    const chosen = random.of(['POST', 'DELETE'])
    const { arrived, release } = servers().proxy.stop(({ method }) => method === chosen)
    await arrived
    blow.strike()
    await blow.recovered()
    release(random.of<Fate>(['pass', 'cut', { abandoned: 2_000 }]))
    const before = workload.counts.acknowledged
    await eventually(() => workload.counts.acknowledged > before + 10)
    workload.stop()
    t.deepEqual(await running, [])
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    t.deepEqual(await workload.broken(api), [])
  })
}
