import test from 'ava'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { SEED } from '../support/random.ts'
import { startWorker, type Worker } from '../support/workers.ts'
import { addTo, runBatch, type Counts } from './histories.ts'

// Clients write to a domain at the same time, through two services, while these, PowerDNS and the connections between them
// are killed, stopped and cut. Each history is judged by what its clients and an observer were told (history.ts). The
// histories of a batch share the faults; the seed of each batch is one more than that of the batch before.

const HISTORIES = Number(process.env['HISTORIES'] ?? 1_000)
const BATCH = 20

const servers = useServers()
let workers: Worker[]
const total: Partial<Counts> = {}

test.serial.before('two services are started', async () => {
  workers = [await startWorker(servers()), await startWorker(servers())]
})

test.after.always(async () => {
  await servers().killServices()
  for (const { postgres } of workers) await postgres.close()
})

for (let first = 0; first < HISTORIES; first += BATCH) {
  const size = Math.min(BATCH, HISTORIES - first)
  test.serial(
    `whatever fails, API and DNS show what was acknowledged, and nothing that was refused: histories ${first + 1} to ${first + size}`,
    async (t) => {
      t.timeout(600_000)
      const batch = { seed: SEED + first / BATCH, size, prefix: `batch-${first / BATCH}` }
      const { failures, counts } = await runBatch(servers(), workers, batch)
      addTo(total, counts)
      t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
    },
  )
}

test.serial('in the end, database and DNS are equal', async (t) => {
  t.timeout(600_000)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test.serial(
  'the histories had writes that succeeded, were refused, failed, had an unknown outcome, and were late',
  (t) => {
    t.log(total)
    const { done = 0, refused = 0, failed = 0, unknown = 0, looks = 0, late = 0 } = total
    t.true(done > 2 * HISTORIES && refused > HISTORIES && looks > 10 * HISTORIES)
    if (HISTORIES >= 500) t.true(failed > 100 && unknown > 10 && late > 0)
  },
)
