import { setTimeout as sleep } from 'node:timers/promises'
import type { TestServers } from '../support/harness.ts'
import type { Random } from '../support/random.ts'
import type { CommitFate } from '../support/servers/postgres/postgres-proxy.ts'
import type { Fate } from '../support/servers/proxy.ts'
import type { Worker } from '../support/workers.ts'

/** Something that fails, and works again when `strike` resolves. */
export interface Fault {
  what: string
  strike: () => Promise<void>
}

const COMMITS: CommitFate[] = ['cut', 'forget', 'swallow']

/** Where faults strike. */
export interface Scene {
  workers: Worker[]
  /** How many requests the clients will send at least. */
  requests: number
  clients: Clients
}

/** The clients, whom a fault may hold up. */
export interface Clients {
  /** How many requests they have sent so far, and how many are not answered yet. */
  sent: number
  running: number
  /** How many more requests they may begin. */
  places: number
}

/**
 * Three faults, which strike while clients send requests: of PowerDNS or of the way to it, of a process of the service,
 * and of the connections of a process to Postgres.
 */
export function drawFaults(random: Random, scene: Scene, servers: TestServers): Fault[] {
  const { workers } = scene
  const duration = 200 + random.below(random.of([500, 2_500]))
  const first = random.below(workers.length)
  const second = random.below(workers.length)
  // Long enough for many requests.
  const long = duration + 1_000
  const chosen = [
    random.of([ofPowerDns(servers, duration), [ofCalls(servers, long, random)]]),
    ofService(workers[first]!, first, duration),
    ofPostgres(workers[second]!, second, long, random),
  ]
  return chosen.map((kinds) => atSomeMoment(random, scene, random.of(kinds)))
}

/** A fault that waits for its moment: when the clients have sent so many requests. */
export function atSomeMoment(random: Random, { requests, clients }: Scene, { what, strike }: Fault): Fault {
  const moment = random.below(requests)
  return {
    what: `after ${moment} requests ${what}`,
    strike: async () => {
      while (clients.sent < moment) await sleep(5)
      await strike()
    },
  }
}

/** Of a process of the service. */
export function ofService(worker: Worker, i: number, duration: number): Fault[] {
  const stop = async () => {
    const { service } = worker
    service.signal('SIGSTOP')
    await sleep(duration)
    service.signal('SIGCONT')
  }
  return [
    { what: `service ${i} is killed`, strike: () => worker.restart() },
    {
      what: `service ${i} is killed, and again after its restart`,
      strike: async () => {
        await worker.restart()
        await worker.restart()
      },
    },
    { what: `service ${i} stands still for ${duration} ms`, strike: stop },
    {
      what: `service ${i} stands still for ${duration} ms, and its connections to Postgres break`,
      strike: async () => {
        const stopped = stop()
        worker.postgres.cut()
        await stopped
      },
    },
  ]
}

/** Of the connections of a process to Postgres. */
export function ofPostgres({ postgres }: Worker, i: number, duration: number, random: Random): Fault[] {
  // Beyond 5 s the service gives up asking for the outcome of a commit.
  const absence = random.of([duration, duration, duration, 5_500])
  return [
    {
      what: `the connections of service ${i} to Postgres break`,
      strike: async () => {
        postgres.cut()
        await sleep(duration)
        postgres.cut()
      },
    },
    {
      what: `Postgres is away from service ${i} for ${absence} ms`,
      strike: async () => {
        postgres.refuse(true)
        postgres.atCommit(() => random.of(COMMITS))
        await sleep(random.below(10))
        postgres.cut()
        await sleep(absence)
        postgres.atCommit(() => 'pass')
        postgres.refuse(false)
      },
    },
    {
      what: `connections of service ${i} to Postgres break in commits for ${duration} ms`,
      strike: async () => {
        postgres.atCommit(() => (random.below(2) === 0 ? random.of(COMMITS) : 'pass'))
        await sleep(duration)
        postgres.atCommit(() => 'pass')
      },
    },
  ]
}

function ofPowerDns({ powerDns, restartPowerDns }: TestServers, duration: number): Fault[] {
  return [
    {
      what: 'PowerDNS is killed',
      strike: async () => {
        process.kill(powerDns.pid, 'SIGKILL')
        await restartPowerDns()
      },
    },
    {
      what: `PowerDNS stands still for ${duration} ms`,
      strike: async () => {
        process.kill(powerDns.pid, 'SIGSTOP')
        await sleep(duration)
        process.kill(powerDns.pid, 'SIGCONT')
      },
    },
  ]
}

/** Of calls to PowerDNS. */
export function ofCalls({ proxy }: Pick<TestServers, 'proxy'>, duration: number, random: Random): Fault {
  const fate = (): Fate =>
    random.of<Fate>([
      { refuse: 500 },
      { spoil: 500 },
      'cut',
      'swallow',
      { late: random.below(2_000) },
      { abandoned: random.below(4_000) },
      { abandoned: random.below(4_000) },
      { refuse: random.of([502, 504]) },
      { gateway: random.of([502, 504]), later: random.below(6_000) },
      { gateway: random.of([502, 504]), later: random.below(6_000) },
    ])
  return {
    what: `calls to PowerDNS fail, are late, or are answered by a gateway, for ${duration} ms`,
    strike: async () => {
      proxy.fail(({ method }) => (random.below(method === 'PATCH' ? 2 : 20) === 0 ? fate() : 'pass'))
      await sleep(duration)
      proxy.heal()
    },
  }
}
