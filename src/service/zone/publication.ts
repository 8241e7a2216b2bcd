import { absolute } from '../../dns/names.ts'
import { neverSent, takenBack } from '../../errors.ts'
import type { Release } from '../../flow/budget.ts'
import { SMALL_WRITE } from '../../limits.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import { begin, type Db, sendAlong, type Transaction } from '../../store/database.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import { retired } from '../../store/domains/keys.ts'
import { requireTerm } from '../../store/primaries.ts'
import type { Mark } from '../../store/zone/marks.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import type { Writer } from '../actor.ts'
import { keepKeys, openKeys, storeKeys } from '../secrets/signing-keys.ts'
import { transfersOf } from '../secrets/transfer-keys.ts'
import { linesTo } from '../throttling/callers.ts'
import { queuesOfLarge } from '../tokens/rights.ts'
import { contentsOf } from './cds.ts'
import { Claim, moment, nextVersion, pushOf } from './claim.ts'
import { amend, type Difference, differences, isSetUp, toSend } from './differences.ts'

/**
 * Writes of one account that a process carries out at once: a third of the writers' connections to Postgres. It is also
 * fewer than the connections to PowerDNS, so both have some left for other accounts while PowerDNS is slow.
 */
export const WRITERS_PER_ACCOUNT = 5

/** The content of a request under a mark. */
interface Sent {
  /** The SOA serial; null for a deletion. */
  version: number | null
  /** The number of RRsets. */
  rrsets: number
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
  /** The zones that differ at standbys once this is committed. */
  #changed: string[] = []
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
  async mark(zone: string, { version, rrsets, served, isAtomic = false }: Sent): Promise<Claim> {
    const asked = moment()
    const [marking, question] = await timed(this.system, 'mark', () =>
      Promise.allSettled([
        marks.set(this.system.pools.marks, zone, pushOf(version, rrsets), {
          flushed: !isAtomic || rrsets > SMALL_WRITE,
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
      if (!isNew) await (claim.isDoubtful ? claim.wait() : claim.note(version, rrsets))
      return claim
    } catch (error) {
      throw await claim.giveUp(error)
    }
  }

  /** Runs `work`, which sends to the nameserver under a claim. The commit deletes the mark; a failure may keep it. */
  async send<T>(claim: Claim, work: () => Promise<T>): Promise<T> {
    try {
      const result = await timed(this.system, 'push', work)
      this.#uncommitted.push(claim.mark)
      this.changes(claim.mark.zone)
      void sendAlong(marks.settle(this.trx, claim.mark))
      return result
    } catch (error) {
      throw await claim.giveUp(error)
    }
  }

  /** Has a zone copied to the standbys once this is committed. */
  changes(zone: string): void {
    this.#changed.push(zone)
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
    const checked = this.#term === undefined ? undefined : sendAlong(requireTerm(this.trx, this.#term, this.#changed))
    await this.#transaction.commit().catch(async (error: unknown) => {
      // The reason why the transaction was rolled back.
      await checked
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
    left.forEach((leaveOne) => {
      leaveOne()
    })
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

/**
 * Makes the served zone, whatever its state, equal to the keys and RRsets of a domain; returns its version, and the differences if the zone
 * existed. A zone that has to be created gets its former keys; new ones only if none were stored. Sends nothing if
 * contents and serial already match and the mark's serial is not above the domain's. If the nameserver should still
 * apply an earlier request, its serial will differ from the domain's version and so reveal it.
 */
export async function equalise(
  { system, trx }: Pick<Publication, 'system' | 'trx'>,
  claim: Claim,
  domain: Pick<LockedDomain, 'id' | 'name' | 'denial' | 'version' | 'sent'>,
  rrsets: PublishedRRset[],
): Promise<{ version: number; differences: Difference[] }> {
  const zone = absolute(domain.name)
  const transfers = await transfersOf(system, trx, domain)
  const live = await system.nameserver.read(zone, transfers)
  const tried = claim.mark.version ?? 0
  const version = nextVersion(system, Math.max(domain.sent, tried, live?.serial ?? 0))
  // On a connection of its own: if this transaction fails, the keys stay.
  const keys = await keepKeys(system, system.pools.marks, domain, live ?? { keys: [], serial: undefined })
  const { ownCds, rrsets: desired } = contentsOf(domain.name, keys, rrsets)

  if (live?.complete !== true) {
    await claim.note(version, desired.length)
    if (live !== undefined) await system.nameserver.deleteZone(zone, claim)
    const update = { zone, denial: domain.denial, version, rrsets: desired, transfers, ownCds }
    const signing = await system.nameserver.createZone(update, openKeys(system, domain.name, keys), claim)
    if (keys.length === 0) await storeKeys(system, system.pools.marks, domain, signing, { only: true })
    return { version, differences: [] }
  }
  const found = await differences(desired, live.rrsets)
  const isReady = isSetUp(live, { ...domain, keys, ownCds })
  if (found.length === 0 && isReady && live.serial === domain.version && tried <= domain.version) {
    return { version: domain.version, differences: found }
  }
  const gone = isReady ? [] : await retired(trx, domain.id)
  const sent = toSend(system.nameserver, found, desired)
  await claim.note(version, sent.length)
  const target = { zone, denial: domain.denial, version, rrsets: sent, transfers, ownCds }
  const signing = isReady ? undefined : { keys: openKeys(system, domain.name, keys), gone }
  await amend(system.nameserver, live, target, signing, claim)
  return { version, differences: found }
}
