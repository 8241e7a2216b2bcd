import { nameOf, SUBNAME_LENGTH, withAncestors } from '../../dns/names.ts'
import { limitExceeded, NameserverFailure, NotFound } from '../../errors.ts'
import { ANCESTORS, RRSETS_MAX, SMALL_WRITE, SMALL_ZONE } from '../../limits.ts'
import type { Key, PublishedRRset } from '../../nameserver/nameserver.ts'
import { inSlices, mapInSlices, type Work } from '../../slices.ts'
import { sendAlong, type Db } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import type { Domain, LockedDomain } from '../../store/domains.ts'
import * as rrsets from '../../store/rrsets.ts'
import type { RRset, RRsetState } from '../../store/rrsets.ts'
import type { Policy } from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import type { Timestamp } from '../../time.ts'
import type { Writer } from '../tokens/actor.ts'
import { policiesOn } from '../tokens/policies.ts'
import { renew, type Use } from '../tokens/rights.ts'
import type { Change, ZoneState } from './changes.ts'
import type { Claim } from './claim.ts'
import { localParent } from './local-suffixes.ts'
import { deleteLeftovers, equalise, nextVersion, openPublication, type Publication } from './publication.ts'
import { needsRectification } from './rectification.ts'

/**
 * A locked zone. Every change to a zone goes through this class, which stores and publishes it. Changes become final
 * when the publication commits; without a commit they are undone.
 */
export class Zone implements ZoneState, AsyncDisposable {
  readonly publication: Publication
  readonly domain: LockedDomain
  readonly current: RRset[]
  readonly policies: Policy[]
  readonly keepsNs: boolean
  readonly labelProblem: (label: string) => string | undefined
  /** The RRsets at the ancestors of the subnames in `current`; undefined: too many to read. */
  readonly #ancestors: RRset[] | undefined

  constructor(
    publication: Publication,
    domain: LockedDomain,
    read: { current?: RRset[]; ancestors?: RRset[] | undefined; policies?: Policy[] } = {},
  ) {
    this.publication = publication
    this.domain = domain
    this.current = read.current ?? []
    this.policies = read.policies ?? []
    this.keepsNs = localParent(domain.name, publication.system.config.localPublicSuffixes) !== undefined
    this.labelProblem = (label) => publication.system.nameserver.labelProblem(label)
    this.#ancestors = read.ancestors
  }

  /**
   * Stores, publishes and commits the changes. When it resolves, DNS answers the new state.
   * @param options.touch updates the domain's `touched` even if the changes neither change nor keep any RRset
   * @returns the RRset that each change leaves; undefined where it leaves none
   * @throws Denied if the domain would have more than RRSETS_MAX; Unavailable, NameserverFailure
   */
  async write(changes: Change[], options?: { touch: boolean }): Promise<(RRset | undefined)[]> {
    const growth = growthOf(changes)
    if (growth > 0 && this.domain.size + growth > RRSETS_MAX) throw limitExceeded('a domain', RRSETS_MAX, 'RRsets')
    const written = await this.apply(changes, options)
    await this.publication.commit()
    return written
  }

  /** Like `write`, but leaves the commit to the caller. */
  async apply(changes: Change[], { touch } = { touch: false }): Promise<(RRset | undefined)[]> {
    const { system, trx } = this.publication
    const now = system.now()
    const effective = changes.filter(({ isEffective }) => isEffective)
    const idle = changes.filter(({ isEffective, after }) => !isEffective && after !== undefined)
    await rrsets.touch(trx, this.domain.id, idle, now)
    if (effective.length > 0) await this.#publish(effective, now)
    else if (touch || idle.length > 0) await domains.touch(trx, this.domain.id, now)
    return changes.map((change) => rrsetAfter(change, now))
  }

  /** Stores effective changes and sends them to the nameserver, at the same time. */
  async #publish(changes: Change[], now: Timestamp): Promise<void> {
    const { domain } = this
    const { system, trx } = this.publication
    const zone = `${domain.name}.`
    const removed = changes.filter(({ after }) => after === undefined)
    const written = changes.flatMap(({ after }) => after ?? [])
    const growth = growthOf(changes)
    const version = nextVersion(system, domain.sent)
    const rectify =
      system.nameserver.alwaysRectify ||
      domain.size + growth <= SMALL_ZONE ||
      this.#ancestors === undefined ||
      (await inSlices(needsRectification([...this.current, ...this.#ancestors], changes)))

    const storing = sendAlong(rrsets.apply(trx, domain.id, { removed, written, growth, version, rectify, now }))
    const sent = { version, rrsets: changes.length, served: domain.version }
    const push = this.publication.push(domain.name, sent, async (attempt) => {
      const { claim } = attempt
      if (attempt.isDoubtful) {
        await storing
        attempt.begun = true
        await this.publishWhole(claim)
        return
      }
      if (rectify !== domain.rectify) {
        await system.nameserver.setRectify(zone, rectify, claim)
        attempt.begun = true
      }
      // Storing continues meanwhile. The database accepts whatever the plan accepted; if it fails, the mark stays.
      const states = changes.map((change) => toPublished(domain, change.after ?? { ...change.before!, records: [] }))
      await system.nameserver.publish(zone, version, states, rectify, claim)
      attempt.begun = true
      await storing
    })
    // Even if the push fails, storing must end before the transaction: else its statements would follow the rollback.
    await push.finally(() => storing.catch(() => undefined))
  }

  /**
   * Stores the first RRsets of a new domain and creates its zone.
   * @returns the keys that sign the zone
   * @throws Unavailable, NameserverFailure of kind "conflict" if somebody else has created the zone
   */
  async create(written: RRsetState[]): Promise<Key[]> {
    const { domain } = this
    const { system, trx } = this.publication
    const { id, version, created: now } = domain
    await rrsets.apply(trx, id, { removed: [], written, growth: written.length, version, rectify: true, now })
    return this.publication.push(domain.name, { version, rrsets: written.length }, async (attempt) => {
      const { claim } = attempt
      // The name was marked before: an earlier creation may have left a zone.
      if (attempt.begun) {
        if (!(await deleteLeftovers(system, claim)))
          throw new NameserverFailure('conflict', 'somebody else made the zone')
        await claim.note(version, written.length)
      }
      const desired = await mapInSlices(written, (rrset) => toPublished(domain, rrset))
      await system.nameserver.createZone(`${domain.name}.`, version, desired, claim).catch((error: unknown) => {
        // An earlier creation was applied just now: repair deletes its zone.
        if (attempt.begun && error instanceof NameserverFailure && error.kind === 'conflict')
          throw new NameserverFailure('failed', 'the zone was made meanwhile', { cause: error })
        throw error
      })
      attempt.begun = true
      return system.nameserver.keys(`${domain.name}.`)
    })
  }

  /** Deletes the domain and its zone. @throws Unavailable, NameserverFailure */
  async remove(): Promise<void> {
    const { name, size, sent } = this.domain
    const { system, trx } = this.publication
    await domains.remove(trx, this.domain)
    await this.publication.push(name, { version: null, rrsets: size }, async ({ isDoubtful, claim }) => {
      // Not the serial of the earlier push: it would show this deletion as applied.
      if (isDoubtful) await claim.note(nextVersion(system, Math.max(sent, claim.mark.version ?? 0)), size)
      await system.nameserver.deleteZone(`${name}.`, claim)
    })
  }

  /** Makes the zone at the nameserver, whatever its state, equal to the database. Returns its version. */
  async publishWhole(claim: Claim): Promise<number> {
    const { system, trx } = this.publication
    const version = await equalise(system, claim, this.domain, await desiredZone(trx, this.domain))
    await domains.setRepaired(trx, this.domain.id, version)
    return version
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publication[Symbol.asyncDispose]()
  }
}

/**
 * Locks the writer's zone for one write, and renews the rights of the writer's token.
 * @param subnames those that the write is about
 * @throws NotFound, Unauthenticated, Denied, Unavailable
 */
export async function openZone(
  system: System,
  writer: Writer,
  domain: Pick<Domain, 'id' | 'name'>,
  subnames: Iterable<string>,
  use: Use = 'rrsets',
): Promise<Zone> {
  const asked = [...subnames]
  const publication = await openPublication(system, writer.accountId, {
    queue: `zone ${domain.name}`,
    isLarge: asked.length > SMALL_WRITE,
  })
  try {
    const zone = await lockZone(publication, domain.name, asked, { writer, id: domain.id, use })
    // The domain may have been deleted meanwhile, and created again by another account.
    if (zone?.domain.id !== domain.id) throw new NotFound()
    return zone
  } catch (error) {
    await publication[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * Locks a domain's zone; undefined if the domain does not exist.
 * @param by who writes, and must see the domain, the domain's id, and what for; undefined if the service writes
 * @throws Unauthenticated, Denied if the writer may no longer do so
 */
export async function lockZone(
  publication: Publication,
  name: string,
  subnames: Iterable<string>,
  by?: { writer: Writer; id: number; use: Use },
): Promise<Zone | undefined> {
  const { system, trx } = publication
  const { asked, ancestors } = await inSlices(subnamesToRead(subnames))
  // Sent together. The statements after a lock see the state at the time when the lock is granted.
  const [writer, domain, read, known = []] = await Promise.all([
    by && renew(system, trx, by.writer, by.use),
    domains.lock(trx, name, by?.writer),
    rrsets.atSubnames(trx, name, [...asked, ...(ancestors ?? [])]),
    by && policiesOn(trx, by.writer, by.id),
  ])
  if (domain === undefined) return undefined
  // The token got its first policies after its authentication.
  const isNewlyRestricted = writer?.restricted === true && by?.writer.restricted === false
  const policies = isNewlyRestricted ? await policiesOn(trx, writer, domain.id) : known
  return new Zone(publication, domain, {
    current: read.filter(({ subname }) => asked.has(subname)),
    ancestors: ancestors && read.filter(({ subname }) => ancestors.has(subname)),
    policies,
  })
}

/** The subnames that a write is about, and their ancestors, which may be delegations: undefined if too many. */
function* subnamesToRead(subnames: Iterable<string>): Work<{ asked: Set<string>; ancestors: Set<string> | undefined }> {
  // No subname in the database is longer.
  const asked = new Set([...subnames].filter((subname) => subname.length <= SUBNAME_LENGTH))
  const ancestors = new Set<string>()
  for (const subname of asked) {
    for (const name of withAncestors(subname)) if (!asked.has(name)) ancestors.add(name)
    if (ancestors.size > ANCESTORS) return { asked, ancestors: undefined }
    yield
  }
  return { asked, ancestors }
}

/** How many RRsets a domain gains; negative if it loses some. */
function growthOf(changes: Change[]): number {
  return changes.reduce((sum, { before, after }) => sum + Number(after !== undefined) - Number(before !== undefined), 0)
}

/** The RRset that a change leaves. A change without effect keeps the order of the records. */
function rrsetAfter({ before, after, isEffective }: Change, now: Timestamp): RRset | undefined {
  if (after === undefined) return undefined
  if (before !== undefined && !isEffective) return { ...before, touched: now }
  const { subname, type, ttl, records } = after
  return { subname, type, ttl, records, created: before?.created ?? now, touched: now }
}

/** All RRsets of a domain as the nameserver should serve them. */
export async function desiredZone(db: Db, domain: Domain): Promise<PublishedRRset[]> {
  return mapInSlices(await rrsets.list(db, domain.id), (rrset) => toPublished(domain, rrset))
}

/** An RRset as the nameserver should serve it. */
function toPublished(domain: Pick<Domain, 'name'>, { subname, type, ttl, records }: RRsetState): PublishedRRset {
  return { name: nameOf(domain, subname), type, ttl, records }
}
