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
    `killed at any moment, a service leaves nothing that is not put right: kills ${5 * round - 4} to ${5 * round}`,
    async (t) => {
      for (let kill = 0; kill < 5; kill++) {
        const running = workload.run(service.api)
        // Among its first writes, which are slow, or later at full speed; on any machine after some.
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

test.serial('there was something to lose', (t) => {
  t.true(workload.counts.acknowledged > 500, String(workload.counts.acknowledged))
})
