import { setTimeout as sleep } from 'node:timers/promises'
import { NameserverFailure } from '../../errors.ts'
import { graceTime } from '../../limits.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import { begin, sendAlong, type Db, type Transaction } from '../../store/database.ts'
import type { Domain } from '../../store/domains.ts'
import * as marks from '../../store/marks.ts'
import type { Mark } from '../../store/marks.ts'
import type { System } from '../../system.ts'
import { unixTime } from '../../time.ts'
import { differences } from './differences.ts'

/** The state of a push. */
export interface Attempt {
  mark: Mark
  /** The zone had a mark already: its served state is unknown, but no earlier request is in flight any more. */
  isDoubtful: boolean
  /** The push sets it once the nameserver has applied something. From then on even a refusal keeps the mark. */
  begun: boolean
}

/**
 * A transaction that publishes zones, each under a mark (architecture.md). The mark is committed before anything is
 * sent, and the commit deletes it. Without a commit the mark stays, unless certainly nothing was applied.
 */
export class Publication implements AsyncDisposable {
  readonly system: System
  readonly trx: Db
  readonly #transaction: Transaction
  readonly #leaveQueue: () => void
  /** The marks of the zones that are published but not committed. */
  #published: Mark[] = []
  #failure = 'the transaction was rolled back'

  constructor(system: System, transaction: Transaction, leaveQueue: () => void) {
    this.system = system
    this.trx = transaction.db
    this.#transaction = transaction
    this.#leaveQueue = leaveQueue
  }

  /**
   * Runs `push` under the zone's mark. The caller holds the zone's lock until the end of the transaction.
   * @param version the SOA serial that is sent; null for a deletion
   * @param rrsets how many RRsets are sent
   */
  async push<T>(
    zone: string,
    version: number | null,
    rrsets: number,
    push: (attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const grace = graceTime(rrsets)
    const { isNew, ...mark } = await marks.set(this.system.marksDb, { zone, version, grace })
    if (!isNew) await settle(this.system, mark)
    const attempt: Attempt = { mark, isDoubtful: !isNew, begun: !isNew }
    try {
      const result = await push(attempt)
      this.#published.push(mark)
      void sendAlong(marks.remove(this.trx, mark))
      return result
    } catch (error) {
      await keepOrRemoveMark(this.system, attempt, error)
      throw error
    }
  }

  /** @throws Unavailable */
  async commit(): Promise<void> {
    try {
      await this.#transaction.commit()
      this.#published = []
    } catch (error) {
      this.#failure = (error as Error).message
      throw error
    }
  }

  /** Rolls back unless committed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transaction[Symbol.asyncDispose]()
    // The transaction failed after the push. It may have lost its lock before, and another writer removed the mark.
    for (const mark of this.#published) {
      await marks.keep(this.system.marksDb, { ...mark, grace: 0 }, false, this.#failure).catch((error: unknown) => {
        this.system.log.error('mark not kept', { zone: mark.zone, reason: (error as Error).message })
      })
    }
    this.#leaveQueue()
  }
}

/** Begins a publication when the earlier ones in this queue of the process have ended. @throws Unavailable */
export async function openPublication(system: System, queue: string): Promise<Publication> {
  const leave = await system.queues.enter(queue)
  try {
    return new Publication(system, await begin(system.writersDb), leave)
  } catch (error) {
    leave()
    throw error
  }
}

/** After a failed push: removes the mark if certainly nothing was applied, else keeps it. */
async function keepOrRemoveMark(system: System, { mark, begun }: Attempt, error: unknown): Promise<void> {
  // Other errors occur before anything is sent.
  const kind = error instanceof NameserverFailure ? error.kind : 'unreachable'
  if (!begun && (kind === 'refused' || kind === 'conflict' || kind === 'unreachable')) {
    await marks.remove(system.marksDb, mark)
    return
  }
  // If the nameserver answered, no request of ours is in flight.
  const grace = kind === 'unknown' ? mark.grace : 0
  await marks.keep(system.marksDb, { ...mark, grace }, false, (error as Error).message)
}

/** The version after `version`: at least UNIX time, and above the served serial (powerdns.md §0). */
export function nextVersion(system: System, version: number, live = 0): number {
  return Math.max(version + 1, live + 1, unixTime(system.now()))
}

/** Waits until no request that was sent under this mark can still be applied. */
export async function settle(system: System, mark: Mark): Promise<void> {
  const serial = await system.nameserver.serial(`${mark.zone}.`)
  if (mark.grace === 0 || serial === mark.version) return
  // The nameserver answers: it is applying the request now, or never received it.
  await sleep(mark.grace)
}

/** Records in an existing mark what is sent next. @throws Unavailable if the zone's lock was lost meanwhile */
export async function updateMark(system: System, mark: Mark, version: number | null, rrsets: number): Promise<void> {
  Object.assign(mark, { version, grace: graceTime(rrsets) })
  await marks.note(system.marksDb, mark)
}

/**
 * Makes the served zone, whatever its state, equal to `desired` and returns its version. Sends nothing if contents and
 * serial already match and the mark's serial is not above the domain's. If the nameserver should still apply an earlier
 * request, its serial will differ from the domain's version and so reveal it.
 */
export async function equalise(
  system: System,
  mark: Mark,
  domain: Pick<Domain, 'name' | 'version'>,
  desired: PublishedRRset[],
): Promise<number> {
  const zone = `${domain.name}.`
  const live = await system.nameserver.read(zone)
  const tried = mark.version ?? 0
  const version = nextVersion(system, Math.max(domain.version, tried), live?.serial)

  if (live?.complete !== true) {
    await updateMark(system, mark, version, desired.length)
    if (live !== undefined) await system.nameserver.deleteZone(zone)
    await system.nameserver.createZone(zone, version, desired)
    return version
  }
  const changes = await differences(desired, live.rrsets)
  const isConfigured = live.configured && live.rectify
  if (changes.length === 0 && isConfigured && live.serial === domain.version && tried <= domain.version) {
    return domain.version
  }
  await updateMark(system, mark, version, changes.length)
  if (!isConfigured) await system.nameserver.configure(zone)
  await system.nameserver.publish(zone, version, changes, true)
  return version
}

/**
 * Deletes the zone that a failed creation left at the nameserver: one with the mark's serial or the serial before it,
 * or without SOA. Any other zone was created by somebody else, and stays. Returns whether the name is free.
 */
export async function deleteLeftovers(system: System, mark: Mark): Promise<boolean> {
  const zone = `${mark.zone}.`
  const live = await system.nameserver.read(zone)
  if (live === undefined) return true
  const isOurs = live.serial === undefined || [live.serial, live.serial + 1].includes(mark.version ?? 0)
  if (!isOurs) return false
  // Not the served serial: it would show a creation as applied, while this deletion may still be applied late.
  const version = live.serial === undefined ? mark.version : live.serial + 1
  await updateMark(system, mark, version, live.rrsets.length)
  await system.nameserver.deleteZone(zone)
  return true
}
