import { setTimeout as sleep } from 'node:timers/promises'
import { absolute } from '../../dns/names.ts'
import { NameserverFailure, neverSent, takenBack } from '../../errors.ts'
import { answerTime, CLAIM_LIFETIME, COLLECTION_ITEMS } from '../../limits.ts'
import type { Lease } from '../../nameserver/nameserver.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import type { Mark, Push } from '../../store/zone/marks.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { unixTime } from '../../time.ts'
import { keysFor } from '../secrets/signing-keys.ts'

/** Returns the milliseconds after which PowerDNS, once it answers again, no longer applies an unanswered request. */
function graceTime(size: number): number {
  return 1_500 + 2 * size
}

/**
 * The milliseconds for which a zone is watched at least after a request that PowerDNS has not answered itself: a gateway
 * that gave it up can still deliver it.
 */
export const DELIVERY_TIME = 60_000

/** Returns the mark after a failure: how long the zone is watched for the request that failed. */
export function watchedAfter(mark: Mark, error: unknown): Mark {
  const isOpen = error instanceof NameserverFailure && error.kind === 'unknown'
  return isOpen ? { ...mark, timeLimit: Math.max(mark.timeLimit, DELIVERY_TIME) } : mark
}

/** Returns the version after all that were sent for a zone: UNIX time, or the next number (powerdns.md §0). */
export function nextVersion(system: System, sent: number): number {
  return Math.max(sent + 1, unixTime(system.now()))
}

/**
 * A worker's right to change a marked zone at the nameserver (architecture.md), and the effects of its work. A worker
 * that has lost the zone's lock without noticing loses the right when another one claims the mark.
 */
export class Claim implements Lease {
  readonly mark: Mark
  /** True if the served state is unknown, so the whole zone must be published. No earlier request is still open. */
  isDoubtful: boolean
  /**
   * True once the nameserver has applied something. From then on even a rejection keeps the mark. Also true if the zone
   * was marked before: the nameserver may still apply an earlier request.
   */
  begun: boolean
  /** True once something has been sent that changes the zone: every such request confirms the claim just before. */
  hasSent = false
  readonly #system: System
  /** The time at which the database was asked for the last confirmation. */
  #confirmed: Moment

  /**
   * @param asked the time at which the database was asked for the claim
   * @param isNew true if the zone was not marked before
   */
  constructor(system: System, mark: Mark, asked: Moment, isNew = false) {
    this.#system = system
    this.mark = mark
    this.isDoubtful = !isNew && !mark.settled
    this.begun = !isNew
    this.#confirmed = asked
  }

  /** @throws Unavailable if the claim was not confirmed within CLAIM_LIFETIME, and another worker has one now */
  async confirm(): Promise<void> {
    const asked = moment()
    const { steady, wall } = this.#confirmed
    if (asked.steady - steady >= CLAIM_LIFETIME || Math.abs(asked.wall - wall) >= CLAIM_LIFETIME) {
      await marks.confirm(this.#system.pools.marks, this.mark)
      this.#confirmed = asked
    }
    this.hasSent = true
  }

  /** Records the next request in the mark. @throws Unavailable if another worker has claimed the mark */
  async note(version: number | null, size: number): Promise<void> {
    Object.assign(this.mark, pushOf(version, size), { settled: false })
    this.mark.first = await marks.note(this.#system.pools.marks, this.mark)
  }

  /** Waits until the nameserver has applied the requests of earlier claims, or never will, unless it is late. */
  async wait(): Promise<void> {
    const { zone, version, grace } = this.mark
    if (grace === 0) return
    const serial = await this.#system.nameserver.serial(absolute(zone))
    // The nameserver answers: it is applying the request now, or never received it.
    if (serial !== version) await sleep(grace)
  }

  /** Ends the work after an error, and returns the one that says what became of the change. */
  async giveUp(error: unknown): Promise<unknown> {
    const last = await this.#leave(error).then(
      () => error,
      (other: unknown) => other,
    )
    return this.hasSent ? takenBack(last) : neverSent(last)
  }

  /** Settles the mark after a failure if certainly nothing was applied, otherwise keeps it. */
  async #leave(error: unknown): Promise<void> {
    // Other errors occur before anything is sent.
    const kind = error instanceof NameserverFailure ? error.kind : 'unreachable'
    if (!this.begun && (kind === 'refused' || kind === 'conflict' || kind === 'unreachable')) {
      await marks.settle(this.#system.pools.marks, this.mark)
      return
    }
    // If the nameserver answered, no request of ours is in flight.
    const grace = kind === 'unknown' ? this.mark.grace : 0
    await marks.keep(
      this.#system.pools.marks,
      { ...watchedAfter(this.mark, error), grace },
      false,
      (error as Error).message,
    )
  }
}

/** Returns the entry in a mark for requests of this size in RRsets together. */
export function pushOf(version: number | null, size: number): Push {
  const request = Math.min(size, COLLECTION_ITEMS)
  return { version, grace: graceTime(request), timeLimit: answerTime(request) }
}

/**
 * A time of this process, by two clocks, in milliseconds: a process may stand still for long. The steady clock stands
 * still while a machine is paused; the wall clock may be set.
 */
export interface Moment {
  steady: number
  wall: number
}

export function moment(): Moment {
  return { steady: performance.now(), wall: Date.now() }
}

/**
 * Deletes the zone of a suspended domain, if there is one, whatever its state. Keys that only the nameserver has are
 * stored before, so that the zone can come back with all of them.
 */
export async function withhold(system: System, claim: Claim, domain: LockedDomain): Promise<void> {
  const zone = absolute(domain.name)
  const live = await system.nameserver.read(zone)
  if (live === undefined) return
  await keysFor(system, system.pools.marks, domain, live, claim.mark.doubted)
  // A serial that no push has: it would show an earlier one as applied. The zone comes back above it.
  const sent = Math.max(domain.sent, claim.mark.version ?? 0, live.serial ?? 0)
  await claim.note(nextVersion(system, sent), live.rrsets.length)
  await system.nameserver.deleteZone(zone, claim)
}
