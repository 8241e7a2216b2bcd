import test from 'ava'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventually } from '../support/eventually.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { Random, SEED } from '../support/random.ts'
import { FORGETFUL, PostgresServer } from '../support/servers/postgres/postgres-server.ts'
import type { Fate } from '../support/servers/proxy.ts'
import { crashesOf } from './postgres-crashes.ts'
import { createWorkload } from './workload.ts'

// While RRsets are written and domains created and deleted, something is killed, suspended, or fails.

let postgres: PostgresServer
const servers = useServers(undefined, async () => (postgres = await PostgresServer.start(FORGETFUL)))
const workload = createWorkload('killed', 6, 3)
const { counts } = workload
let service: TestProcess

const start = async () => {
  service = await servers().start({ LOG_LEVEL: 'error' })
}

test.serial.before('a service is started', start)

const FATES: Fate[] = [
  ...([{ refuse: 500 }, { spoil: 500 }, 'cut', 'swallow'] as const),
  ...[{ abandoned: 100 }, { late: 100 }, { abandoned: 1_000 }],
]

/** What happens while clients write, and how often. */
const FAULTS: [what: string, rounds: number, strike: (random: Random) => Promise<void>][] = [
  [
    'the service is killed',
    depth(4, 60),
    async () => {
      await service.kill()
      await start()
    },
  ],
  [
    'PowerDNS is killed',
    depth(2, 30),
    async (random) => {
      const before = counts.refused
      process.kill(servers().powerDns.pid, 'SIGKILL')
      // Writes may have met its absence, or not.
      if (random.below(2) === 0) await eventually(() => counts.refused > before)
      await servers().restartPowerDns()
    },
  ],
  [
    'PowerDNS is suspended beyond the time limit, and applies requests late',
    depth(1, 3),
    async () => {
      const before = counts.refused
      process.kill(servers().powerDns.pid, 'SIGSTOP')
      await eventually(() => counts.refused >= before + 3)
      process.kill(servers().powerDns.pid, 'SIGCONT')
    },
  ],
  [
    'calls to PowerDNS fail at random',
    depth(1, 6),
    async (random) => {
      const { acknowledged, refused } = counts
      servers().proxy.fail(() => (random.below(10) === 0 ? random.of(FATES) : 'pass'))
      await eventually(() => counts.acknowledged >= acknowledged + 50 && counts.refused >= refused + 10)
      servers().proxy.heal()
    },
  ],
  [
    'Postgres crashes while a domain is created or deleted',
    depth(2, 6),
    async (random) => {
      const blow = await random.of(crashesOf(postgres, random)).ready()
      const chosen = random.of(['POST', 'DELETE'])
      const { arrived, release } = servers().proxy.stop(({ method }) => method === chosen)
      await arrived
      blow.strike()
      await blow.recovered()
      release(random.of<Fate>(['pass', 'cut', { abandoned: 2_000 }]))
      await workload.acknowledged(10)
    },
  ],
]

for (const [what, rounds, strike] of FAULTS) {
  for (let round = 1; round <= rounds; round++) {
    test.serial(`no acknowledged write is lost, and the zones are repaired, if ${what}: ${round}`, async (t) => {
      const random = new Random(SEED + round)
      const running = workload.run(service.api)
      // It hits the slow first writes, or later ones at full speed, but on any machine after at least one write.
      await workload.acknowledged(1 + random.below(40))
      await strike(random)
      workload.stop()
      t.deepEqual(await running, [])
      t.deepEqual(await discrepanciesInTheEnd(servers()), [])
      t.deepEqual(await workload.broken(service.api), [])
    })
  }
}
