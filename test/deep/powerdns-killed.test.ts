import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import type { Fate } from '../support/servers/proxy.ts'
import { Random } from '../support/random.ts'
import { createWorkload } from './workload.ts'

// While RRsets are written and domains created and deleted, PowerDNS is killed, suspended beyond the time limit, or fails
// at random.

const servers = useServers()
const random = new Random()
let service: TestProcess

test.serial.before('a service is started', async () => {
  service = await servers().start()
})

const killed = createWorkload('pdns-killed', 6, 3)

for (let round = 1; round <= 6; round++) {
  test.serial(
    `if PowerDNS is killed at any moment, its zones are repaired after its restart: kills ${5 * round - 4} to ${5 * round}`,
    async (t) => {
      const { powerDns, restartPowerDns } = servers()
      for (let kill = 0; kill < 5; kill++) {
        const running = killed.run(service.api)
        await sleep(20 + random.below(500))
        process.kill(powerDns.pid, 'SIGKILL')
        await restartPowerDns()
        killed.stop()
        t.deepEqual(await running, [])
        t.deepEqual(await discrepanciesInTheEnd(servers()), [])
        t.deepEqual(await killed.broken(service.api), [])
      }
    },
  )
}

const stopped = createWorkload('pdns-stopped', 4, 2)

for (const round of [1, 2, 3]) {
  test.serial(
    `if PowerDNS is suspended beyond the time limit and applies requests late, its zones are repaired: stop ${round}`,
    async (t) => {
      const running = stopped.run(service.api)
      await sleep(200 + random.below(300))
      const { refused } = stopped.counts
      process.kill(servers().powerDns.pid, 'SIGSTOP')
      while (stopped.counts.refused < refused + 3) await sleep(50)
      process.kill(servers().powerDns.pid, 'SIGCONT')
      stopped.stop()
      t.deepEqual(await running, [])
      t.deepEqual(await discrepanciesInTheEnd(servers()), [])
      t.deepEqual(await stopped.broken(service.api), [])
    },
  )
}

const fates: Fate[] = [
  { refuse: 500 },
  { spoil: 500 },
  'cut',
  'swallow',
  { abandoned: 100 },
  { late: 100 },
  { abandoned: 1000 },
]
const failing = createWorkload('failing', 6, 3)

for (let round = 1; round <= 6; round++) {
  test.serial(`if calls to PowerDNS fail at random, no acknowledged write is lost: round ${round}`, async (t) => {
    servers().proxy.fail(() => (random.below(10) === 0 ? random.of(fates) : 'pass'))
    const running = failing.run(service.api)
    await sleep(5000)
    failing.stop()
    t.deepEqual(await running, [])
    servers().proxy.heal()
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    t.deepEqual(await failing.broken(service.api), [])
  })
}

test.serial('each workload had acknowledged writes, and some that were answered 503', (t) => {
  for (const { counts } of [killed, stopped, failing]) {
    t.true(counts.acknowledged > 10 && counts.refused > 0, JSON.stringify(counts))
  }
})
