import { absolute } from '../../dns/names.ts'
import { neverSent, takenBack, Unavailable } from '../../errors.ts'
import type { Release } from '../../flow/budget.ts'
import { SMALL_WRITE } from '../../limits.ts'
import { allOf } from '../../store/connections/failures.ts'
import { sendAlong } from '../../store/connections/prepared-query.ts'
import { begin, type Db, type Transaction } from '../../store/database.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import { requireTerm } from '../../store/primaries.ts'
import type { ZoneChange } from '../../store/standbys.ts'
import type { Mark } from '../../store/zone/marks.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import type { Writer } from '../actor.ts'
import { linesTo } from '../throttling/callers.ts'
import { queuesOfLarge } from '../tokens/rights.ts'
import { isAnnouncement } from './cds.ts'
import type { Change } from './changes.ts'
import { Claim, moment, pushOf } from './claim.ts'

/**
 * Writes of one account that a process carries out at once: a third of the writers' connections to Postgres. It is also
 * fewer than the connections to PowerDNS, so both have some left for other accounts while PowerDNS is slow.
 */
export const WRITERS_PER_ACCOUNT = 5

/** The RRsets of a write that standbys get to know; after a larger one, their zones are compared. */
const MOST_NOTED = 100

/** The content of a request under a mark. */
interface Sent {
  /** The SOA serial; null for a deletion. */
  version: number | null
  /** In RRsets. */
  size: number
  /**
   * The serial that the nameserver should have now. Another one means that a late request was applied, or another
   * program changed the zone; the push would hide that. undefined: any
   */
  served?: number
  /**
   * True if one request is sent, whose serial shows whether it was applied. Then a crash of Postgres may lose the mark,
   * if it is a small one (architecture.md).
   */
  isAtomic?: boolean
}

/**
 * A transaction that publishes zones, each under a mark (crashes.md). The mark is committed before anything is
 * sent, and the commit deletes it. Without a commit the mark stays, unless certainly nothing was applied.
 */
export class Publication implements AsyncDisposable {
  readonly system: System
  readonly trx: Db
  readonly #transaction: Transaction
  readonly #leaveQueues: () => void
  /** The marks of sent, but uncommitted changes. */
  #uncommitted: Mark[] = []
  /** What differs at standbys once this is committed. */
  readonly #changes = new Map<string, ZoneChange | undefined>()
  /** The last statements, for which nothing waits but the commit. */
  readonly #unnoticed: Promise<void>[] = []
  /** The NOTIFYs to be sent at the commit. */
  #announcements: (Pick<LockedDomain, 'name' | 'notify'> & { version: number })[] = []
  #failure = 'the transaction was rolled back'
  /** Whether marks of this transaction may be left. */
  #isMarked = false
  /** The term of the primary to which it publishes: taken before anything is asked or sent. */
  readonly #term: number | undefined

  constructor(system: System, transaction: Transaction, leaveQueues: () => void) {
    this.system = system
    this.trx = transaction.db
    this.#transaction = transaction
    this.#leaveQueues = leaveQueues
    this.#term = system.primaries.term
  }

  /**
   * Marks a zone, whose lock the caller holds until the end of the transaction; `send` must follow.
   * @throws Unavailable, NameserverFailure; then nothing was sent
   */
  async mark(zone: string, { version, size, served, isAtomic = false }: Sent): Promise<Claim> {
    const asked = moment()
    const [marking, question] = await timed(this.system, 'mark', () =>
      Promise.allSettled([
        marks.set(this.system.pools.marks, zone, pushOf(version, size), {
          flushed: !isAtomic || size > SMALL_WRITE,
        }),
        served === undefined ? true : this.system.nameserver.hasSerial(absolute(zone), served),
      ]),
    )
    if (marking.status === 'rejected') throw marking.reason
    const { isNew, ...mark } = marking.value
    const claim = new Claim(this.system, mark, asked, isNew)
    this.#isMarked = true
    try {
      if (question.status === 'rejected') throw neverSent(question.reason)
      const isAsBefore = question.value
      if (isNew && !isAsBefore) this.system.metrics?.count('zoneplane_drifted_zones_total', { found_by: 'write' })
      claim.isDoubtful ||= !isAsBefore
      if (!isNew) await (claim.isDoubtful ? claim.wait() : claim.note(version, size))
      return claim
    } catch (error) {
      throw await claim.giveUp(error)
    }
  }

  /**
   * Runs `work`, which sends to the nameserver under a claim. The commit deletes the mark; a failure may keep it.
   * @param change what it changes in the zone; undefined: anything
   */
  async send<T>(claim: Claim, work: () => Promise<T>, change?: ZoneChange): Promise<T> {
    try {
      const result = await timed(this.system, 'push', work)
      this.#uncommitted.push(claim.mark)
      this.changes(claim.mark.zone, change)
      this.#unnoticed.push(sendAlong(marks.settle(this.trx, claim.mark)))
      return result
    } catch (error) {
      throw await claim.giveUp(error)
    }
  }

  /**
   * Returns what standbys have to know of changes that leave the keys and settings of a zone as they are; undefined: that
   * anything may have changed.
   * @param served the serial before
   */
  noted(served: number, changes: Change[]): ZoneChange | undefined {
    if (this.#term === undefined || changes.length > MOST_NOTED) return undefined
    // CDS can change what the nameserver announces by itself.
    if (changes.some(isAnnouncement)) return undefined
    return { served, changed: changes.map(({ subname, type }) => [subname, type]) }
  }

  /** Has a zone copied to the standbys once this is committed. */
  changes(zone: string, change?: ZoneChange): void {
    this.#changes.set(zone, this.#changes.has(zone) ? undefined : change)
  }

  /** Announces a version to the secondaries when it is committed. */
  announceAtCommit({ name, notify }: Pick<LockedDomain, 'name' | 'notify'>, version: number): void {
    this.#announcements.push({ name, notify, version })
  }

  /** @throws Unavailable */
  async commit(): Promise<void> {
    try {
      await timed(this.system, 'commit', () => this.#commitInTerm())
      this.#uncommitted = []
      this.#isMarked = false
      for (const { name, version, notify } of this.#announcements) {
        this.system.secondaries.announce(name, this.system.nameserver.servedSerial(version, this.system.now()), notify)
      }
    } catch (error) {
      this.#failure = (error as Error).message
      throw this.#uncommitted.length > 0 ? takenBack(error) : error
    }
  }

  /** Commits, unless another primary is the active one by now. Both statements are sent together. */
  async #commitInTerm(): Promise<void> {
    if (this.#term !== undefined) this.#unnoticed.push(sendAlong(requireTerm(this.trx, this.#term, this.#changes)))
    await this.#transaction.commit().catch(async (error: unknown) => {
      // If the connection broke, the statements say so, too, but only the commit knows its outcome.
      if (!(error instanceof Unavailable)) await allOf(this.#unnoticed)
      throw error
    })
  }

  /** Rolls back unless committed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transaction[Symbol.asyncDispose]()
    // The transaction failed after the push. It may have lost its lock before, and another writer removed the mark.
    for (const mark of this.#uncommitted) {
      await marks.keep(this.system.pools.marks, { ...mark, grace: 0 }, false, this.#failure).catch((error: unknown) => {
        this.system.log.error('mark of an uncommitted change could not be kept', {
          zone: mark.zone,
          reason: (error as Error).message,
        })
      })
    }
    // Repair can begin: the zones are not locked any more.
    if (this.#isMarked) this.system.workBell.ring()
    this.#leaveQueues()
  }
}

/**
 * Begins a publication when the earlier ones in these queues of the process have ended, in turn, and the account has room
 * among WRITERS_PER_ACCOUNT. So one account cannot occupy all connections to Postgres and PowerDNS.
 * @param writer a writer with an account, or another name for it
 * @param options.isLarge true for a write that takes long: those of an account go one after the other, and small ones beside
 * @throws Unavailable
 */
export async function openPublication(
  system: System,
  writer: Writer | string,
  { queues = [], isLarge = false }: { queues?: string[]; isLarge?: boolean } = {},
): Promise<Publication> {
  const { bounds, patience } = system
  const left: Release[] = []
  const leave = () => {
    for (const leaveOne of left) leaveOne()
  }
  try {
    left.push(await bounds.queues.takeInTurn(queues, patience))
    const writers = `writers of ${typeof writer === 'string' ? writer : writer.accountId}`
    const lines = (what: string) => (typeof writer === 'string' ? [] : linesTo(what, writer))
    if (isLarge && typeof writer !== 'string')
      left.push(await bounds.queues.takeInTurn([...lines(`large ${writers}`), ...queuesOfLarge(writer)], patience))
    const leaveLine = await bounds.queues.takeInTurn(lines(writers), patience)
    left.push(leaveLine)
    left.push(await bounds.writers.take(writers, patience))
    leaveLine()
    return new Publication(system, await begin(system.pools.writers), leave)
  } catch (error) {
    leave()
    throw error
  }
}

/** The steps of a write (architecture.md). */
type Step = 'turn' | 'lock' | 'plan' | 'mark' | 'push' | 'commit'

/** Measures the time of a step, also if it fails. */
export async function timed<T>(system: System, step: Step, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    return await work()
  } finally {
    ended(system, step, start)
  }
}

/** Measures the time since the start of a step, by performance.now(). */
export function ended({ metrics }: System, step: Step, start: number): void {
  metrics?.time('zoneplane_write_step_duration_seconds', { step }, start)
}
