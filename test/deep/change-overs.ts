import { setTimeout as sleep } from 'node:timers/promises'
import { changeTo } from '../../src/service/operation/primaries.ts'
import { find } from '../../src/store/primaries.ts'
import { eventually } from '../support/eventually.ts'
import type { TestPair } from '../support/harness.ts'
import type { Random } from '../support/random.ts'
import type { Primary } from '../support/servers/powerdns/pair.ts'
import type { Adoptions } from './adoptions.ts'
import { atSomeMoment, type Fault, ofCalls, ofPostgres, ofService, type Scene } from './faults.ts'
import { type History, NONE, type Span } from './history.ts'

/** The API key of a service, by which the proxies know its calls. */
export const keyOf = (i: number) => `service-${i}`

/** Why another PowerDNS became the active one: what happened to the former one, or a command. */
const CAUSES = ['killed', 'stopped', 'cut', 'hangs', 'calls', 'command', 'command while a process is cut off'] as const
type Cause = (typeof CAUSES)[number]

/** The histories and adoptions that a change-over met, and adoptions that succeeded. */
const MET = ['histories', 'mid-write', 'mid-rollover', 'mid-adoption', 'adopted'] as const

/** How often the active one of two PowerDNS changed in some histories, and what it met. */
export type ChangeOverCounts = Record<Cause | 'no fault' | (typeof MET)[number], number>

export function noChangeOvers(): ChangeOverCounts {
  const counted = [...CAUSES, 'no fault', ...MET].map((what) => [what, 0])
  return Object.fromEntries(counted) as ChangeOverCounts
}

/** How often a watch looks, in milliseconds, so how exact its times are. */
const WATCH_PAUSE = 20

/** How long an outage waits for a change-over, in milliseconds. */
const PATIENCE = 30_000

/** How long a fault may be over, in milliseconds, before a change-over that it has caused. */
const DELAY = 2_000

/** Knows each change-over of a batch, and why it was. */
export class ChangeOverWatch {
  readonly #pair: TestPair
  /** Begins when the term before it was seen last. */
  readonly #changes: (Span & { term: number })[] = []
  readonly #blows: (Span & { cause: Cause })[] = []
  readonly #commands = new Map<number, Cause>()
  readonly #watching: Promise<void>
  #isOver = false

  constructor(pair: TestPair) {
    this.#pair = pair
    this.#watching = this.#watch()
  }

  async #watch(): Promise<void> {
    let term: number | undefined
    let before = performance.now()
    while (!this.#isOver) {
      const asked = performance.now()
      const now = await current(this.#pair)
      term ??= now.term
      for (; term < now.term; term++) this.#changes.push({ term: term + 1, from: before, to: performance.now() })
      before = asked
      await sleep(WATCH_PAUSE)
    }
  }

  /** Strikes at one of them, which may cause a change-over. */
  async blow(cause: Cause, strike: () => Promise<void>): Promise<void> {
    const blow = { cause, from: performance.now(), to: Infinity }
    this.#blows.push(blow)
    await strike()
    blow.to = performance.now()
  }

  /** Makes the other one the active one by command, as an operator who tries again for a while, and forces it at last. */
  async command(random: Random, cause: Cause = 'command'): Promise<void> {
    // It may be away, or still lack what is repaired or copied.
    for (let left = 1 + random.below(10); left > 0; left--) {
      const { name, term } = await current(this.#pair)
      const other = this.#pair.primaries.find((primary) => primary.name !== name)!
      const isDone = await changeTo(this.#pair.system, other.name, { force: left === 1 }).then(
        () => true,
        () => false,
      )
      if (isDone) {
        this.#commands.set(term + 1, cause)
        return
      }
      await sleep(200)
    }
  }

  /** Waits until the next change-over; but not for ever, since a standby that lacks too much does not take over. */
  async untilChanged(): Promise<void> {
    const seen = this.#changes.length
    for (const start = performance.now(); performance.now() - start < PATIENCE;) {
      if (this.#changes.length > seen) return
      await sleep(WATCH_PAUSE)
    }
  }

  /** Counts the histories that a change-over met, and what they did then. */
  count({ events }: History, counts: ChangeOverCounts): void {
    const [first, last] = [Math.min(...events.map(({ from }) => from)), lastWrite(events)]
    const met = this.#changes.filter(({ from, to }) => from < last && to > first)
    if (met.length > 0) counts.histories++
    if (met.some((span) => events.some((event) => event.kind === 'write' && isDuring(span, event))))
      counts['mid-write']++
    if (met.some(({ from }) => areKeysReplaced(events, from))) counts['mid-rollover']++
  }

  /** Ends, and counts the change-overs. */
  async end(counts: ChangeOverCounts, adoptions: Adoptions): Promise<void> {
    this.#isOver = true
    await this.#watching
    for (const { term, from, to } of this.#changes) {
      const blow = this.#blows.findLast((each) => each.from < to && from < each.to + DELAY)
      counts[this.#commands.get(term) ?? blow?.cause ?? 'no fault']++
    }
    counts['mid-adoption'] += adoptions.spans.filter((span) =>
      this.#changes.some((change) => isDuring(change, span)),
    ).length
    counts.adopted += adoptions.adopted.length
  }
}

/** Whether a moment, which is not known exactly, certainly is within a time. */
function isDuring({ from, to }: Span, during: Span): boolean {
  return during.from < from && to < during.to
}

function lastWrite(events: History['events']): number {
  return Math.max(...events.map(({ kind, to }) => (kind === 'write' ? to : 0)))
}

/** Whether keys were being replaced at a moment: the last that was known of them says so. */
function areKeysReplaced(events: History['events'], moment: number): boolean {
  const known = events.flatMap((event) => {
    const keys =
      event.kind === 'read'
        ? event.seen['keys']
        : event.kind === 'write' && event.outcome === 'done' && event.sets['keys']
    return typeof keys === 'string' && event.to < moment ? [{ keys, to: event.to }] : []
  })
  const [last] = known.sort((one, other) => other.to - one.to)
  return last !== undefined && last.keys !== NONE
}

/** What happens to one of two PowerDNS, or on the way to it. */
interface Blow {
  what: string
  cause: Cause
  strike: (primary: Primary) => Promise<void>
}

/**
 * Faults of two PowerDNS: an outage after which the other one takes over; or commands, back and forth, also while a process
 * is cut off from one of them. Besides, one each of a process of the service, and of its connections to Postgres.
 */
export function drawChangeOvers(random: Random, scene: Scene, pair: TestPair, watch: ChangeOverWatch): Fault[] {
  const { workers } = scene
  const first = random.below(workers.length)
  const second = random.below(workers.length)
  const duration = 200 + random.below(random.of([500, 2_500]))
  // Commands would come before the other one takes over by itself.
  const isOutage = random.below(2) === 0
  return [
    drawBlows(random, scene, pair, watch, isOutage),
    ...(isOutage ? [] : random.of([[], [drawCommands(random, scene, watch)]])),
    atSomeMoment(random, scene, random.of(ofService(workers[first]!, first, duration))),
    atSomeMoment(random, scene, random.of(ofPostgres(workers[second]!, second, duration + 1_000, random))),
  ]
}

/** Some blows, one after the other, each to the one that is active then, or to the other one. */
function drawBlows(random: Random, scene: Scene, pair: TestPair, watch: ChangeOverWatch, isOutage: boolean): Fault {
  const outage = random.of(outages('until the other one has taken over', () => watch.untilChanged()))
  const brief = 500 + random.below(2_000)
  const others = [
    ...outages(`for ${brief} ms`, () => sleep(brief)),
    ofLateCalls(brief, random),
    ofOneProcess(brief, random, scene),
  ]
  const roles = ['active', 'standby'] as const
  const demanded = isOutage
    ? { ...outage, role: 'active' as const }
    : { ...drawCutCommand(random, scene, watch), role: random.of(roles) }
  const drawn = random.some([demanded, ...random.of([[], [{ ...random.of(others), role: random.of(roles) }]])], 2)
  const blows = drawn.map((blow) => ({ ...blow, pause: random.below(1_000) }))
  return {
    what: blows.map(({ what, role }) => `the ${role} PowerDNS ${what}`).join('; then '),
    strike: async () => {
      for (const { cause, strike, role, pause } of blows) {
        await sleep(pause)
        const { name } = await current(pair)
        const primary = pair.primaries.find((each) => (each.name === name) === (role === 'active'))!
        await watch.blow(cause, () => strike(primary))
      }
    },
  }
}

/** @param wait resolves when the outage ends */
function outages(how: string, wait: () => Promise<unknown>): Blow[] {
  return [
    {
      what: `is down ${how}`,
      cause: 'killed',
      strike: async (primary) => {
        process.kill(primary.powerDns.pid, 'SIGKILL')
        await wait()
        await primary.restart()
      },
    },
    {
      what: `stands still ${how}`,
      cause: 'stopped',
      strike: async ({ powerDns: { pid } }) => {
        process.kill(pid, 'SIGSTOP')
        await wait()
        process.kill(pid, 'SIGCONT')
      },
    },
    { what: `is cut off from all ${how}`, cause: 'cut', strike: cutOff(() => true, 'cut', wait) },
    { what: `answers nobody ${how}`, cause: 'hangs', strike: cutOff(() => true, 'hang', wait) },
  ]
}

function cutOff(isCut: (key: string) => boolean, how: 'cut' | 'hang', work: () => Promise<unknown>) {
  return async ({ proxy }: Primary) => {
    proxy.fail(({ key }) => (isCut(key) ? how : 'pass'))
    await work().finally(() => {
      proxy.heal()
    })
  }
}

function ofLateCalls(duration: number, random: Random): Blow {
  const strike = (primary: Primary) => ofCalls(primary, duration, random).strike()
  return { what: `gets calls late, or not, for ${duration} ms`, cause: 'calls', strike }
}

/** The others still have answers, so no other one takes over. */
function ofOneProcess(duration: number, random: Random, { workers }: Scene): Blow {
  const which = random.below(workers.length)
  const how = random.of(['cut', 'hang'] as const)
  const strike = cutOff(
    (key) => key === keyOf(which),
    how,
    () => sleep(duration),
  )
  return {
    what: `is cut off from service ${which} (${how}) for ${duration} ms`,
    cause: how === 'cut' ? 'cut' : 'hangs',
    strike,
  }
}

/** A process is cut off from one of them. Meanwhile the other one is made the active one by command, and perhaps again. */
function drawCutCommand(random: Random, { workers }: Scene, watch: ChangeOverWatch): Blow {
  const which = random.below(workers.length)
  const how = random.of(['cut', 'hang'] as const)
  const pauses = Array.from({ length: 1 + random.below(2) }, () => random.below(1_500))
  const cause = 'command while a process is cut off'
  const work = async () => {
    for (const pause of pauses) {
      await sleep(pause)
      await watch.command(random, cause)
    }
    await sleep(500)
  }
  const what = `is cut off from service ${which} (${how}); after ${pauses.join(', ')} ms, the other one is made the active one`
  return { what, cause, strike: cutOff((key) => key === keyOf(which), how, work) }
}

/** The other one is made the active one by command, and afterwards again. */
function drawCommands(random: Random, scene: Scene, watch: ChangeOverWatch): Fault {
  const pauses = Array.from({ length: 1 + random.below(3) }, () => random.below(random.of([200, 3_000])))
  return atSomeMoment(random, scene, {
    what: `another PowerDNS is made the active one, and again after ${pauses.join(', ')} ms`,
    strike: async () => {
      for (const pause of [0, ...pauses]) {
        await sleep(pause)
        await watch.command(random)
      }
    },
  })
}

async function current({ system }: TestPair): Promise<{ term: number; name: string }> {
  // A busy machine may take too long to connect.
  const found = await eventually(() => find(system.db).catch(() => undefined))
  return found!
}
