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

/** What is about to be sent to the nameserver. */
export interface Sending {
  /** The domain's name. */
  zone: string
  /** The SOA serial that it carries; null for a deletion. */
  version: number | null
  rrsets: number
}

/** What a push learns about the zone, and may say of it. */
export interface Attempt {
  mark: Mark
  /** The mark was there before: what is served may be anything, though nothing is under way to it any more. */
  isDoubtful: boolean
  /** To be set once something was applied, so that a refusal of the rest no longer means that nothing was. */
  begun: boolean
}

/**
 * A transaction in which zones are published, each under a mark (architecture.md): the mark is committed before anything
 * is sent, and goes with the commit. Without commit it stays, unless it is certain that nothing was applied.
 */
export class Publication implements AsyncDisposable {
  readonly system: System
  readonly trx: Db
  readonly #transaction: Transaction
  readonly #leaveQueue: () => void
  /** The marks of the zones that were published and not committed yet. */
  #published: Mark[] = []
  #failure: unknown = 'the transaction was rolled back'

  constructor(system: System, transaction: Transaction, leaveQueue: () => void) {
    this.system = system
    this.trx = transaction.db
    this.#transaction = transaction
    this.#leaveQueue = leaveQueue
  }

  /** Runs `push` under the zone's mark. The caller holds the zone's lock until the transaction's end. */
  async push<T>(sending: Sending, push: (attempt: Attempt) => Promise<T>): Promise<T> {
    const grace = graceTime(sending.rrsets)
    const { isNew, ...mark } = await marks.set(this.system.marksDb, { ...sending, grace })
    if (!isNew) await settle(this.system, mark)
    const attempt: Attempt = { mark, isDoubtful: !isNew, begun: !isNew }
    try {
      const result = await push(attempt)
      this.#published.push(mark)
      void sendAlong(marks.remove(this.trx, mark))
      return result
    } catch (error) {
      await reconsider(this.system, attempt, error)
      throw error
    }
  }

  /** @throws Unavailable */
  async commit(): Promise<void> {
    try {
      await this.#transaction.commit()
      this.#published = []
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  /** Rolls back what was not committed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transaction[Symbol.asyncDispose]()
    // The transaction has failed after the push. With it the lock may have been lost before, and the mark taken away.
    for (const mark of this.#published) {
      await marks
        .keep(this.system.marksDb, { ...mark, grace: 0 }, false, reason(this.#failure))
        .catch((error: unknown) => this.system.log.error('mark not kept', { zone: mark.zone, reason: reason(error) }))
    }
    this.#leaveQueue()
  }
}

/**
 * Begins a publication once those that came before in this queue of the process are over.
 * @throws Unavailable
 */
export async function openPublication(system: System, queue: string): Promise<Publication> {
  const leave = await system.queues.enter(queue)
  try {
    return new Publication(system, await begin(system.writersDb), leave)
  } catch (error) {
    leave()
    throw error
  }
}

/** What a failed push means for the mark. */
async function reconsider(system: System, { mark, begun }: Attempt, error: unknown): Promise<void> {
  // Other errors come from before anything was sent.
  const kind = error instanceof NameserverFailure ? error.kind : 'unreachable'
  if (!begun && (kind === 'refused' || kind === 'conflict' || kind === 'unreachable')) {
    await marks.remove(system.marksDb, mark)
    return
  }
  // If it answered, nothing of ours is under way any more.
  const grace = kind === 'unknown' ? mark.grace : 0
  await marks.keep(system.marksDb, { ...mark, grace }, false, reason(error))
}

/** The version that comes after `version`: it never falls behind the clock, nor behind what is served (powerdns.md §0). */
export function nextVersion(system: System, version: number, live = 0): number {
  return Math.max(version + 1, live + 1, unixTime(system.now()))
}

/** Waits until nothing that was sent to the zone under this mark can still be applied. */
export async function settle(system: System, mark: Mark): Promise<void> {
  const serial = await system.nameserver.serial(`${mark.zone}.`)
  if (mark.grace === 0 || serial === mark.version) return
  // The nameserver is well: what reached it is being carried out now, or never arrived.
  await sleep(mark.grace)
}

/** Notes in a mark that was there before what is sent next. @throws Unavailable if the zone's lock was lost meanwhile */
export async function note(system: System, mark: Mark, version: number | null, rrsets: number): Promise<void> {
  Object.assign(mark, { version, grace: graceTime(rrsets) })
  await marks.note(system.marksDb, mark)
}

/**
 * Makes the served zone equal `desired`, whatever is there, and returns its version. Sends nothing if contents and serial
 * already match and the serial is newer than the mark's: what is applied late, against all expectation, then shows by its
 * serial.
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
    await note(system, mark, version, desired.length)
    if (live !== undefined) await system.nameserver.deleteZone(zone)
    await system.nameserver.createZone(zone, version, desired)
    return version
  }
  const changes = await differences(desired, live.rrsets)
  const isConfigured = live.configured && live.rectify
  if (changes.length === 0 && isConfigured && live.serial === domain.version && tried <= domain.version) {
    return domain.version
  }
  await note(system, mark, version, changes.length)
  if (!isConfigured) await system.nameserver.configure(zone)
  await system.nameserver.publish(zone, version, changes, true)
  return version
}

/**
 * Removes what a creation that came to nothing has left at the nameserver: a zone with the mark's serial or the one before
 * it, or without SOA. Any other was made by somebody else in the meantime, and stays. Returns whether the name is free.
 */
export async function clearAway(system: System, mark: Mark): Promise<boolean> {
  const zone = `${mark.zone}.`
  const live = await system.nameserver.read(zone)
  if (live === undefined) return true
  const isOurs = live.serial === undefined || [live.serial, live.serial + 1].includes(mark.version ?? 0)
  if (!isOurs) return false
  await note(system, mark, mark.version, live.rrsets.length)
  await system.nameserver.deleteZone(zone)
  return true
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
