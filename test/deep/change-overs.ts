import { setTimeout as sleep } from 'node:timers/promises'
import { changeTo } from '../../src/service/operation/primaries.ts'
import { find } from '../../src/store/primaries.ts'
import { eventually } from '../support/eventually.ts'
import type { TestPair } from '../support/harness.ts'
import type { Random } from '../support/random.ts'
import type { Primary } from '../support/servers/powerdns/pair.ts'
import { atSomeMoment, type Fault, ofCalls, ofPostgres, ofService, type Scene } from './faults.ts'

/** The API key of a service, by which the proxies know its calls. */
export const keyOf = (i: number) => `service-${i}`

/** How often the active one of two PowerDNS changed in some histories. */
export interface ChangeOvers {
  byCommand: number
  byItself: number
}

/** What happens to one of two PowerDNS, or on the way to it. */
interface Blow {
  what: string
  strike: (primary: Primary) => Promise<void>
}

/**
 * Faults of two PowerDNS, of which some make the other one the active one, and one each of a process of the service, and
 * of its connections to Postgres. Besides, the active one is changed by command, or not.
 */
export function drawChangeOvers(random: Random, scene: Scene, pair: TestPair, counts: ChangeOvers): Fault[] {
  const { workers } = scene
  const first = random.below(workers.length)
  const second = random.below(workers.length)
  const duration = 200 + random.below(random.of([500, 2_500]))
  return [
    drawBlows(random, scene, pair, counts),
    ...random.of([[], [drawCommands(random, scene, pair, counts)]]),
    atSomeMoment(random, scene, random.of(ofService(workers[first]!, first, duration))),
    atSomeMoment(random, scene, random.of(ofPostgres(workers[second]!, second, duration + 1_000, random))),
  ]
}

/** One blow, or two one after the other, each to the one that is active then, or to the other one. */
function drawBlows(random: Random, scene: Scene, pair: TestPair, counts: ChangeOvers): Fault {
  const drawn = Array.from({ length: random.of([1, 1, 2]) }, () => {
    // Often so long that the other one takes over.
    const duration = random.of([500, 3_000, 6_000]) + random.below(1_000)
    const blow = random.of([...ofServer(duration), ...ofWays(duration, random, scene.workers.length)])
    return { ...blow, role: random.of(['active', 'active', 'standby'] as const), pause: random.below(2_000) }
  })
  return atSomeMoment(random, scene, {
    what: drawn.map(({ what, role }) => `the ${role} PowerDNS ${what}`).join('; then '),
    strike: async () => {
      for (const { strike, role, pause } of drawn) {
        const { term, name } = await current(pair)
        await strike(pair.primaries.find((primary) => (primary.name === name) === (role === 'active'))!)
        if ((await current(pair)).term > term) counts.byItself++
        await sleep(pause)
      }
    },
  })
}

function ofServer(duration: number): Blow[] {
  return [
    {
      what: `is killed, and started after ${duration} ms`,
      strike: async (primary) => {
        process.kill(primary.powerDns.pid, 'SIGKILL')
        await sleep(duration)
        await primary.restart()
      },
    },
    {
      what: `stands still for ${duration} ms`,
      strike: async ({ powerDns: { pid } }) => {
        process.kill(pid, 'SIGSTOP')
        await sleep(duration)
        process.kill(pid, 'SIGCONT')
      },
    },
  ]
}

function ofWays(duration: number, random: Random, services: number): Blow[] {
  const which = random.below(services)
  const how = random.of(['cut', 'hang'] as const)
  const cutOff = (isCut: (key: string) => boolean) => async (primary: Primary) => {
    primary.proxy.fail(({ key }) => (isCut(key) ? how : 'pass'))
    await sleep(duration)
    primary.proxy.heal()
  }
  return [
    { what: `is cut off from all (${how}) for ${duration} ms`, strike: cutOff(() => true) },
    {
      what: `is cut off from service ${which} (${how}) for ${duration} ms`,
      strike: cutOff((key) => key === keyOf(which)),
    },
    {
      what: `gets calls late, or not, for ${duration} ms`,
      strike: (primary) => ofCalls(primary, duration, random).strike(),
    },
  ]
}

/** The other one is made the active one by command, and soon afterwards again. */
function drawCommands(random: Random, scene: Scene, pair: TestPair, counts: ChangeOvers): Fault {
  const pauses = Array.from({ length: 1 + random.below(3) }, () => random.below(random.of([200, 3_000])))
  return atSomeMoment(random, scene, {
    what: `another PowerDNS is made the active one, and again after ${pauses.join(', ')} ms`,
    strike: async () => {
      for (const pause of [0, ...pauses]) {
        await sleep(pause)
        const { name } = await current(pair)
        const other = pair.primaries.find((primary) => primary.name !== name)!
        // It may be away, or still lack what is repaired.
        const isDone = await changeTo(pair.system, other.name, { force: false }).then(
          () => true,
          () => false,
        )
        if (isDone) counts.byCommand++
      }
    },
  })
}

async function current({ system }: TestPair): Promise<{ term: number; name: string }> {
  // A busy machine may take too long to connect.
  const found = await eventually(() => find(system.db).catch(() => undefined))
  return found!
}
