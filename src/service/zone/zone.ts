import { absolute, parentAmong } from '../../dns/names.ts'
import { Occluded } from '../../errors.ts'
import { inSlices } from '../../flow/slices.ts'
import { requestSize } from '../../limits.ts'
import type { Transfers } from '../../nameserver/nameserver.ts'
import { allOf } from '../../store/connections/failures.ts'
import { sendAlong } from '../../store/connections/prepared-query.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import { keysOf } from '../../store/domains/keys.ts'
import { storedTransfers } from '../../store/domains/transfers.ts'
import type { Policy } from '../../store/tokens/tokens.ts'
import { bury } from '../../store/zone/deleted-domains.ts'
import * as history from '../../store/zone/history.ts'
import type { RRset } from '../../store/zone/rrsets.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import { after, type Timestamp } from '../../time.ts'
import { refuseForSuspended } from '../names/suspended.ts'
import { isAnnouncement, servedChanges, tellParents } from './cds.ts'
import { type Change, growthOf, refuseTooLarge, rrsetAfter, type Written, type ZoneState } from './changes.ts'
import { type Claim, nextVersion } from './claim.ts'
import type { Difference } from './differences.ts'
import { type Author, draft, occasionOf } from './journal.ts'
import { created, deleted, isCut, occlusions } from './occlusion.ts'
import { ended, type Publication } from './publication.ts'
import { needsRectification } from './rectification.ts'
import { equalise } from './whole-zone.ts'

/**
 * A locked zone. Every change to a zone goes through this class, which stores and publishes it; its creation is in
 * zone-creation.ts. Changes become final when the publication commits; without a commit they are undone.
 */
export class Zone implements ZoneState, AsyncDisposable {
  /** True if `write` only examines the changes (contract §15.3). */
  readonly dryRun: boolean
  readonly publication: Publication
  readonly domain: LockedDomain
  readonly author: Author
  readonly current: RRset[]
  readonly policies: Policy[]
  readonly keepsNs: boolean
  readonly labelProblem: (label: string) => string | undefined
  /** The delegations and DNAMEs at the ancestors of the subnames in `current`; undefined: too many to read. */
  readonly #ancestors: RRset[] | undefined
  /** The names of the suspended domains below it. */
  readonly #hidden: string[]
  /** True if `current` has all RRsets of the zone. */
  readonly #isWhole: boolean
  readonly #opened = performance.now()

  /** @param author of the changes, for the domain's history */
  constructor(
    publication: Publication,
    domain: LockedDomain,
    author: Author,
    read: {
      current?: RRset[]
      isWhole?: boolean
      ancestors?: RRset[] | undefined
      hidden?: string[]
      policies?: Policy[]
    } = {},
    dryRun = false,
  ) {
    this.author = author
    this.dryRun = dryRun
    this.publication = publication
    this.domain = domain
    this.current = read.current ?? []
    this.policies = read.policies ?? []
    this.keepsNs = parentAmong(domain.name, publication.system.config.localPublicSuffixes) !== undefined
    this.labelProblem = (label) => publication.system.nameserver.labelProblem(label, domain.denial)
    this.#ancestors = read.ancestors
    this.#hidden = read.hidden ?? []
    this.#isWhole = read.isWhole ?? false
  }

  /**
   * Stores, publishes and commits the changes, unless the zone was opened for a dry run. When it resolves, DNS answers
   * the new state.
   * @param options.touch updates the domain's `touched` even if the changes neither change nor keep any RRset
   * @throws Denied if the domain would be too large; Conflict for names of suspended domains; Occluded, Unavailable, NameserverFailure
   */
  async write(changes: Change[], options?: { touch: boolean }): Promise<Written> {
    refuseTooLarge(this.publication.system.config, this.domain, growthOf(changes))
    const effective = changes.filter(({ isEffective }) => isEffective)
    refuseForSuspended(this.domain.name, this.#hidden, effective)
    await this.#refuseOccluded(effective)
    if (this.dryRun) return { changes: effective, rrsets: [], version: undefined }
    const applied = await this.apply(changes, options)
    await this.publication.commit()
    return { changes: effective, ...applied }
  }

  /** @throws Occluded */
  async #refuseOccluded(changes: Change[]): Promise<void> {
    const added = created(changes)
    if (added.length === 0) return
    const { trx } = this.publication
    const cuts = added.filter(isCut)
    const removed = deleted(changes)
    const above = this.#ancestors ?? (await rrsets.cuts(trx, this.domain.id))
    const below = this.#isWhole || cuts.length === 0 ? [] : await rrsets.belowCuts(trx, this.domain.id, cuts, removed)
    const found = await inSlices(occlusions(this.domain, added, removed, [...this.current, ...above, ...below]))
    if (found.length > 0) throw new Occluded(found)
  }

  /** Does the same as `write`, but leaves the commit to the caller, is not a dry run, and allows all occlusions. */
  async apply(changes: Change[], { touch } = { touch: false }): Promise<Pick<Written, 'rrsets' | 'version'>> {
    const { system, trx } = this.publication
    const now = after(this.domain.published, system.now())
    const effective = changes.filter(({ isEffective }) => isEffective)
    const idle = changes.filter(({ isEffective, after }) => !isEffective && after !== undefined)
    let version: number | undefined
    if (effective.length > 0) version = await this.#publish(effective, idle, now)
    else {
      const isTouched = touch || idle.length > 0
      await allOf([rrsets.touch(trx, this.domain.id, idle, now), isTouched && domains.touch(trx, this.domain.id, now)])
    }
    return { rrsets: changes.map((change) => rrsetAfter(change, now)), version }
  }

  /**
   * Sends effective changes to the nameserver, and stores them meanwhile.
   * @param idle changes without effect, whose time is stored
   * @returns the version that is served then
   */
  async #publish(changes: Change[], idle: Change[], now: Timestamp): Promise<number> {
    const { domain, publication } = this
    const { system } = publication
    ended(system, 'plan', this.#opened)
    const version = nextVersion(system, domain.sent)
    const around = this.#ancestors && [...this.current, ...this.#ancestors]
    const rectify = await needsRectification(publication, domain, around, changes)
    const state = { version, rectify, now }
    const keys = changes.some(isAnnouncement) ? await keysOf(publication.trx, domain.id) : []
    const { rrsets, ownCds } = await servedChanges(domain.name, keys, this.current, changes)
    const isAtomic = rectify === domain.rectify && ownCds === undefined
    const sent = { version, size: requestSize(rrsets), served: domain.version, isAtomic }
    const marking = publication.mark(domain.name, sent)
    const update = { zone: absolute(domain.name), denial: domain.denial, version, rrsets }
    // While the zone is being marked.
    const preparing = sendAlong(system.nameserver.prepare(update, rectify))
    const claim = await marking
    const isPlain = isAtomic && !claim.isDoubtful
    const work = async () => {
      if (claim.isDoubtful) {
        await this.#store(changes, idle, state)
        claim.begun = true
        return (await this.publishWhole(claim)).version
      }
      if (!isAtomic) {
        if (rectify !== domain.rectify) await system.nameserver.setRectify(absolute(domain.name), rectify, claim)
        if (ownCds !== undefined) await system.nameserver.setOwnCds(absolute(domain.name), ownCds, claim)
        claim.begun = true
      }
      const sending = system.nameserver.send(await preparing, claim)
      // The database accepts whatever the plan accepted; if it fails, the mark stays.
      const storing = sendAlong(this.#store(changes, idle, state))
      // Even if sending fails, storing must end first: otherwise its statements would follow the rollback.
      await sending.finally(() => storing.catch(() => undefined))
      claim.begun = true
      publication.announceAtCommit(domain, version)
      await storing
      return version
    }
    return publication.send(claim, work, isPlain ? publication.noted(domain.version, changes) : undefined)
  }

  /** Stores the changes. @returns when all statements have ended, also if one has failed */
  async #store(changes: Change[], idle: Change[], state: { version: number; rectify: boolean; now: Timestamp }) {
    const { author, domain, publication } = this
    const { system, trx } = publication
    const removed = deleted(changes)
    const written = changes.flatMap(({ after }) => after ?? [])
    const entry = await draft(system, author, state, changes)
    const outcome = { removed, written, growth: growthOf(changes), historyOctets: entry.octets, ...state }
    await allOf([
      rrsets.touch(trx, domain.id, idle, state.now),
      rrsets.apply(trx, domain.id, outcome),
      history.add(trx, domain, entry),
      changes.some(isAnnouncement) && tellParents(system, trx, [domain]),
    ])
  }

  /** Deletes the domain and its zone; they can be restored. @throws Unavailable, NameserverFailure */
  async remove(): Promise<void> {
    const { id, name, size, published } = this.domain
    const { system, trx } = this.publication
    const sent = nextVersion(system, this.domain.sent)
    const transfers = await storedTransfers(trx, id)
    const now = after(published, system.now())
    await bury(trx, id, occasionOf(system, this.author, { version: sent, now }))
    await domains.remove(trx, { ...this.domain, sent })
    const claim = await this.publication.mark(name, { version: null, size })
    await this.publication.send(claim, async () => {
      // Not the serial of the earlier push: it would show this deletion as applied.
      if (claim.isDoubtful) await claim.note(nextVersion(system, Math.max(sent, claim.mark.version ?? 0)), size)
      await system.nameserver.deleteZone(absolute(name), claim)
      // A key that no longer belongs to any zone is harmless if it stays.
      if (transfers?.secret) await system.nameserver.removeTransferKey(transfers.keyName).catch(() => undefined)
    })
  }

  /**
   * Makes zone and settings at the nameserver equal to the database.
   * @param transfers the permissions for transfers, if only these have changed: contents and version stay
   * @throws Unavailable, NameserverFailure
   */
  async publishAgain(transfers?: Transfers): Promise<void> {
    const { domain, publication } = this
    const { name, sent, size, version: served } = domain
    const version = nextVersion(publication.system, sent)
    const claim = await publication.mark(name, { version, size: transfers === undefined ? size : 0, served })
    await publication.send(claim, async () => {
      claim.begun = true
      if (transfers === undefined || claim.isDoubtful) await this.publishWhole(claim)
      else {
        await publication.system.nameserver.setTransfers(absolute(name), transfers, claim)
        publication.announceAtCommit(domain, served)
      }
    })
  }

  /** Makes the zone at the nameserver equal to the database, in any state. Returns its version and the differences. */
  async publishWhole(claim: Claim): Promise<{ version: number; differences: Difference[] }> {
    const { domain, publication } = this
    const desired = await rrsets.list(publication.trx, domain.id)
    const published = await equalise(publication, claim, domain, desired)
    await domains.setRepaired(publication.trx, domain.id, published.version)
    publication.announceAtCommit(domain, published.version)
    return published
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publication[Symbol.asyncDispose]()
  }
}
