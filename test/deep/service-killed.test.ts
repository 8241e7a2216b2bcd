import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { createWorkload } from './workload.ts'

// 60 kills at random moments, while RRsets are written and domains created and deleted.

const servers = useServers()
const random = new Random()
const workload = createWorkload('killed', 6, 3)
let service: TestProcess

test.serial.before('a service is started', async () => {
  service = await servers().start()
})

for (let round = 1; round <= 12; round++) {
  test.serial(
    `if the service is killed at any moment, no acknowledged write is lost and the zones are repaired: kills ${5 * round - 4} to ${5 * round}`,
    async (t) => {
      for (let kill = 0; kill < 5; kill++) {
        const running = workload.run(service.api)
        // A kill hits the slow first writes, or later ones at full speed, but on any machine after at least one write.
        const enough = workload.counts.acknowledged + 1 + random.below(40)
        while (workload.counts.acknowledged < enough) await sleep(1)
        await sleep(random.below(10))
        await service.kill()
        t.deepEqual(await running, [])
        service = await servers().start()
        t.deepEqual(await discrepanciesInTheEnd(servers()), [])
        t.deepEqual(await workload.broken(service.api), [])
      }
    },
  )
}

test.serial('the workload had many acknowledged writes', (t) => {
  t.true(workload.counts.acknowledged > 500, String(workload.counts.acknowledged))
})
