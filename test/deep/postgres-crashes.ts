import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import type { TestServers } from '../support/harness.ts'
import type { Random } from '../support/random.ts'
import type { PostgresPair } from '../support/servers/postgres/postgres-pair.ts'
import type { Blow, PostgresServer } from '../support/servers/postgres/postgres-server.ts'
import type { Call, Fate, Stopped } from '../support/servers/proxy.ts'
import { markedZones } from '../support/state/marks.ts'
import type { Worker } from '../support/workers.ts'
import { atSomeMoment, type Fault, type Scene } from './faults.ts'

// Postgres crashes while requests to PowerDNS are open whose marks it may lose.

/** What happened in the crashes of some histories. */
export interface CrashCounts {
  crashes: number
  /** Changes that PowerDNS had not got when Postgres crashed, and that their senders had marked. */
  held: number
  /** Those of them whose marks were lost. */
  lost: number
}

/** A way in which Postgres crashes. */
export interface Crash {
  what: string
  ready: () => Promise<Blow>
}

/** The ways in which a server crashes. */
export function crashesOf(server: PostgresServer, random: Random): Crash[] {
  const absence = random.below(random.of([100, 1_500]))
  const choice = random.below(1_000)
  return [
    {
      what: `Postgres is shut down immediately, and started after ${absence} ms`,
      ready: () => server.readyToShutDown(absence),
    },
    {
      what: 'a session of Postgres is killed',
      ready: () => server.readyToKillSession((pids) => pids[choice % pids.length]!),
    },
  ]
}

/**
 * The ways in which a standby replaces a primary, and the connections of the services then lead to it. The primary is
 * killed before, or soon after.
 */
export function failoversOf(pair: PostgresPair, random: Random, workers: Worker[]): Crash[] {
  const time = random.below(1_000)
  const turn = () => {
    for (const { postgres } of workers) {
      postgres.leadTo(pair.urls.primary)
      postgres.cut()
    }
  }
  return [
    {
      what: 'the primary is killed, and its standby promoted',
      ready() {
        const { strike, recovered } = pair.readyToFailOver()
        return Promise.resolve({ strike, recovered: () => recovered().then(turn) })
      },
    },
    {
      what: `the standby is promoted, and after ${time} ms the former primary is killed`,
      ready: () =>
        Promise.resolve({
          strike: () => undefined,
          recovered: async () => {
            await pair.promote()
            await sleep(time)
            turn()
            await pair.loseFormer()
          },
        }),
    },
  ]
}

/** How many changes the services send at once. */
const PLACES = 8

/**
 * Crashes one after the other, each while the next changes are on their way to PowerDNS: they arrive late or never. Services
 * may be killed at the same time.
 */
export function drawCrashes(
  random: Random,
  scene: Scene,
  servers: TestServers,
  crashes: Crash[],
  counts: CrashCounts,
): Fault {
  const { workers } = scene
  const drawn = crashes.map((crash) => {
    const victims = random.of([[], [], workers.slice(0, 1), workers.slice(1), workers])
    const fates = Array.from({ length: PLACES }, () => drawFate(random))
    return { crash, victims, fates, delay: random.below(random.of([1, 20, 200])), begun: 2 + random.below(2 * PLACES) }
  })
  const whats = drawn.map(({ crash, victims, fates, delay }) => {
    const killed = victims.map((victim) => `, service ${workers.indexOf(victim)} is killed`).join('')
    return `${crash.what}${killed}, ${delay} ms after the next change arrives; this one and others: ${fates.map(({ what }) => what).join(', ')}`
  })
  return atSomeMoment(random, scene, {
    what: whats.join('; then '),
    strike: async () => {
      for (const each of drawn) await strike(scene, servers, each, counts)
    },
  })
}

interface Delayed {
  what: string
  /** Milliseconds after Postgres works again. */
  pause: number
  fate: Fate
}

function drawFate(random: Random): Delayed {
  const pause = random.below(random.of([1, 1_000]))
  const time = random.below(random.of([500, 3_000, 9_000]))
  return random.of<Delayed>([
    { what: `passed after ${pause} ms`, pause, fate: 'pass' },
    { what: 'lost', pause, fate: 'cut' },
    { what: `without answer after ${pause} ms`, pause, fate: 'swallow' },
    { what: `late by ${pause + time} ms`, pause, fate: { late: time } },
    { what: `abandoned for ${pause + time} ms`, pause, fate: { abandoned: time } },
    { what: `abandoned for ${pause + time} ms`, pause, fate: { abandoned: time } },
  ])
}

async function strike(
  { workers, clients }: Scene,
  servers: TestServers,
  {
    crash,
    victims,
    fates,
    delay,
    begun,
  }: { crash: Crash; victims: Worker[]; fates: Delayed[]; delay: number; begun: number },
  counts: CrashCounts,
): Promise<void> {
  // Commits save the marks before them. So at first all requests end, and then only a few begin.
  clients.places = 0
  await Promise.race([eventuallyIs(() => clients.running, 0), sleep(2_000)])
  const blow = await crash.ready()
  const stops = fates.map(() => servers.proxy.stop(({ method }) => method === 'PATCH'))
  const arrived = new Map<Stopped, Call>()
  for (const stop of stops) {
    stop.arrived.then(
      (call) => arrived.set(stop, call),
      () => undefined,
    )
  }
  clients.places = begun
  // The clients may have sent all that they had.
  await Promise.race([...stops.map((stop) => stop.arrived), sleep(1_000)])
  await eventually(() => arrived.size > 0 || clients.running === 0)
  await sleep(delay)
  blow.strike()
  // Nobody stores a mark again before it is clear which were lost.
  for (const { postgres } of workers) postgres.refuse(true)
  const held = [...arrived.values()].map(zoneOf)
  const restarts = Promise.all(victims.map((victim) => victim.restart()))
  restarts.catch(() => undefined)
  await blow.recovered()
  const marked = await markedZones(servers)
  for (const { postgres } of workers) postgres.refuse(false)
  clients.places = Infinity
  counts.crashes++
  counts.held += held.length
  counts.lost += held.filter((zone) => !marked.includes(zone)).length
  const release = async ({ pause, fate }: Delayed, i: number) => {
    await sleep(pause)
    const stop = stops[i]!
    stop.release(arrived.has(stop) ? fate : 'pass')
  }
  await Promise.all([...fates.map(release), restarts])
}

function zoneOf({ path }: Call): string {
  return /^\/zones\/(.*)\.$/.exec(path)![1]!
}
