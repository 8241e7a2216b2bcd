import pLimit from 'p-limit'
import { reasonOf } from '../../errors.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import type { Phase, Rollover, Side } from '../../store/domains/rollovers.ts'
import * as store from '../../store/domains/rollovers.ts'
import { exclusively } from '../../store/turns.ts'
import * as marks from '../../store/zone/marks.ts'
import { largestTtl } from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { HOUR, secondsBetween } from '../../time.ts'
import { check, checkRoutinely, lastCheck } from '../delegation/checks.ts'
import { dsTtlOf } from '../delegation/observation.ts'
import type { Scan } from '../work/work.ts'
import { openPublication } from '../zone/publication.ts'
import { tellOwners } from './owner-notices.ts'
import { remindOwner } from './owner-reminders.ts'
import { formerIn, isReplaced } from './parent-ds.ts'
import { firstPhase, nextPhase, waitsForSigners } from './phases.ts'
import { beginQueued } from './queue.ts'
import { carryOut } from './transitions.ts'

// Rollovers go on by themselves. One process at a time looks at what ends the phase of each.

/** The number of rollovers that one look takes up, and of those that are looked at at the same time. */
const ROLLOVERS_AT_ONCE = 100
const PARALLEL = 10

/**
 * Phases begin one after the other. Otherwise they would take longer, and so would writes of these domains, which wait for
 * them as for other writes.
 */
const publishing = pLimit(1)

/** Milliseconds that a rollover waits for the writers of its zone, before it lets others pass for LONGEST_PAUSE. */
const ZONE_PATIENCE = 5_000

/** The longest time between two looks at a rollover, in seconds. */
const LONGEST_PAUSE = 60

/** What was observed of a rollover, and when to look again, in seconds. */
interface Observation extends Pick<Rollover, 'version' | 'seen' | 'ttl'> {
  pause: number
  /** True if the phase ends now. */
  isOver: boolean
  /** The phase that follows then; default: the next one. */
  next?: Phase
}

/**
 * Takes rollovers from phase to phase. Those that wait for parents do not hold up the others: strangers' nameservers are
 * asked slowly, and may not answer.
 */
export function rolloverScans(): Scan[] {
  const stopwatch = new Stopwatch()
  const scan = (name: string, run: Scan['run']): Scan => ({ name, of: 'rollovers', run })
  return [
    scan('key rollovers', async (system, stopping) => {
      const hasTurn = await exclusively(system.db, 'rollovers', async () => {
        await store.addWaited(system.db, stopwatch.tick())
        await advanceDue(system, 'service', stopping)
        await beginQueued(system, ROLLOVERS_AT_ONCE, stopping)
      })
      if (!hasTurn) stopwatch.stop()
    }),
    // Steps may wait for zones, and mails shall not.
    scan('notices of key rollovers', (system) => exclusively(system.db, 'rollover notices', () => tellOwners(system))),
    scan('key rollovers at parents', (system, stopping) =>
      exclusively(system.db, 'rollovers at parents', () => advanceDue(system, 'parent', stopping)),
    ),
  ]
}

/**
 * Measures the time that passes while this process looks at rollovers. It is the sum of what a steady clock shows, so a
 * clock that is set forward shortens no wait, and neither does the time in which no process runs. The store counts time
 * that several processes measure once.
 */
class Stopwatch {
  #last: number | undefined

  /** Returns the seconds since the last call; none after `stop`, and after LONGEST_PAUSE, in which there was no rollover. */
  tick(): number {
    const now = performance.now()
    const elapsed = this.#last === undefined ? 0 : (now - this.#last) / 1_000
    this.#last = now
    return elapsed > LONGEST_PAUSE ? 0 : elapsed
  }

  stop(): void {
    this.#last = undefined
  }
}

/** Looks at the rollovers of a side that are due; a failure, or a server that does not answer, does not reach the others. */
async function advanceDue(system: System, side: Side, stopping: AbortSignal): Promise<void> {
  await pLimit(PARALLEL).map(await store.due(system.db, side, ROLLOVERS_AT_ONCE), async (rollover) => {
    if (stopping.aborted) return
    await advance(system, rollover).catch(async (error: unknown) => {
      if (stopping.aborted) return
      system.log.error('key rollover could not advance; retrying', { zone: rollover.name, reason: reasonOf(error) })
      // Otherwise it would take the place of others in each look.
      await store.postpone(system.db, rollover.domainId, LONGEST_PAUSE)
    })
  })
}

/** Looks at a rollover, and takes it to its next phase if this one is over. */
export async function advance(system: System, rollover: Rollover & { name: string }): Promise<void> {
  const domain = await domains.find(system.db, rollover.name)
  if (domain?.id !== rollover.domainId) return
  const {
    isOver,
    pause,
    next = nextPhase(rollover.phase, rollover),
    ...observed
  } = await observe(system, domain, rollover)
  await store.note(system.db, rollover, observed, pause)
  if (!isOver) return
  // Others do not wait for the writers of this zone.
  const patience = { left: ZONE_PATIENCE, gone: system.stopping }
  const step = () => publishing(() => enter(system, domain, rollover, next))
  await system.bounds.queues.run(`zone ${domain.name}`, patience, step)
}

async function enter(system: System, domain: Domain, rollover: Rollover, next: Phase | undefined): Promise<void> {
  await using publication = await openPublication(system, 'rollovers')
  const locked = await domains.lock(publication.trx, domain.name)
  const present = locked && (await store.rolloverOf(publication.trx, domain.id))
  // The owner may have cancelled it, or added other signers, meanwhile.
  if (
    locked?.paused !== false ||
    locked.suspended !== null ||
    present?.phase !== rollover.phase ||
    present.since !== rollover.since
  )
    return
  if (waitsForSigners(present)) return
  await carryOut(publication, locked, { ...present, phase: next, action: 'advance' })
}

async function observe(system: System, domain: Domain, rollover: Rollover): Promise<Observation> {
  const { phase } = rollover
  if (phase === 'await-ds') return observeParent(system, domain, rollover)
  if (phase === 'await-ds-ttl') return observeCaches(system, domain, rollover)
  // Until then, caches may have answers that the new keys have not signed.
  const ttl = phase === firstPhase(rollover) ? await largestTtl(system.db, domain.id) : 0
  const observation = await observeSecondaries(system, domain.name, rollover, Math.max(ttl, system.waits.dnskeyTtl))
  if (!waitsForSigners(rollover)) return observation
  await remindOwner(system, domain, rollover)
  return { ...observation, pause: LONGEST_PAUSE, isOver: false }
}

/** Observes whether all nameservers have the keys of the phase, and so for how long caches may have others. */
async function observeSecondaries(system: System, name: string, rollover: Rollover, ttl: number): Promise<Observation> {
  const version = rollover.version ?? (await publishedVersion(system, name))
  if (version === null) return { ...rollover, pause: 1, isOver: false }
  const served = await Promise.all(system.secondaries.all.map((secondary) => secondary.serves(name)))
  // A secondary that does not answer may have any version.
  if (served.includes(undefined)) {
    return { ...rollover, version, pause: Math.min(system.waits.dnskeyTtl, LONGEST_PAUSE), isOver: false }
  }
  const serial = system.nameserver.servedSerial(version, system.now())
  const isServed = served.every((answer) => (answer?.serial ?? 0) >= serial)
  return observed({ ...rollover, version }, isServed ? 1 : 0, ttl)
}

/** Returns the version of a domain; null if its keys may not be published yet, because it is marked. */
async function publishedVersion(system: System, name: string): Promise<number | null> {
  // First the mark: the version of before could otherwise be that of a publication which ends meanwhile.
  if ((await marks.list(system.db, [name])).length > 0) return null
  return (await domains.find(system.db, name))?.version ?? null
}

/** @param seen 0: what the phase waits for is not, or no longer, so */
function observed(rollover: Rollover, seen: number, ttl: number): Observation {
  const wait = rollover.emergency ? 0 : Math.max(rollover.ttl, ttl)
  const left = Math.max(wait - rollover.waited, 0)
  const isOver = seen > 0 && rollover.seen > 0 && left === 0
  return { version: rollover.version, seen, ttl: wait, pause: Math.min(left, LONGEST_PAUSE), isOver }
}

/**
 * Observes whether caches have forgotten the former DS. Then the parent is asked once more: if it has a former DS again,
 * the rollover goes back to the phase that waits for it.
 */
async function observeCaches(system: System, domain: Domain, rollover: Rollover): Promise<Observation> {
  const observation = observed(rollover, 1, rollover.ttl)
  if (!observation.isOver || rollover.forced) return observation
  const { servers } = await check(system, domain)
  if (servers.some(({ ds }) => formerIn(domain.name, rollover, ds).length > 0))
    return { ...observation, next: 'await-ds' }
  const areKnown = servers.length > 0 && servers.every(({ problem }) => problem === null)
  return areKnown ? observation : { ...observation, isOver: false, pause: pauseAtParent(system, rollover) }
}

/** Observes whether the parent has the DS of the new keys alone, or none at all; twice, a while apart. */
async function observeParent(system: System, domain: Domain, rollover: Rollover): Promise<Observation> {
  const { version } = rollover
  const { dsMargin, dsTtl: unknown, parentPause } = system.waits
  if (rollover.confirmed) return { version, seen: 1, ttl: unknown + dsMargin, pause: 0, isOver: true }
  // Caches may still have DS that the parent had at the check before.
  const before = await lastCheck(system.db, domain.id)
  // Only what all servers say ends the phase. Until then, most looks find that nothing is new.
  const { servers } = await (rollover.seen === 0 ? checkRoutinely : check)(system, domain)
  const sets = servers.map(({ problem, ds }) => (problem === null ? ds : undefined))
  const isDone = sets.length > 0 && sets.every((ds) => ds !== undefined && isReplaced(domain.name, rollover, ds))
  const isUnsigned = sets.length > 0 && sets.every((ds) => ds?.length === 0)
  const seen = isDone || isUnsigned ? rollover.seen + 1 : 0
  if (seen === 0) await remindOwner(system, domain, rollover)
  // A parent that has none may have had one until a moment ago.
  const dsTtl = dsTtlOf([...before.servers, ...servers]) ?? unknown
  const ttl = (isUnsigned ? Math.max(dsTtl, unknown) : dsTtl) + dsMargin
  const pause = seen > 0 ? parentPause : pauseAtParent(system, rollover)
  return { version, seen, ttl, pause, isOver: seen > 1 }
}

/** Returns the seconds between two looks at a parent: the longer it takes, the rarer they are. */
function pauseAtParent({ waits, now }: System, { since }: Rollover): number {
  return Math.min(Math.max(secondsBetween(since, now()), waits.parentPause), HOUR)
}
