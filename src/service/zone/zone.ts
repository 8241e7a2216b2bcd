import { nameOf, SUBNAME_LENGTH, withAncestors } from '../../dns/names.ts'
import { parseRdata } from '../../dns/rdata.ts'
import { NameserverFailure, NotFound } from '../../errors.ts'
import { ANCESTORS, SMALL_ZONE } from '../../limits.ts'
import type { Key, PublishedRRset } from '../../nameserver/nameserver.ts'
import { inSlices, mapInSlices, type Work } from '../../slices.ts'
import { sendAlong } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import type { Domain, Viewer } from '../../store/domains.ts'
import type { Mark } from '../../store/marks.ts'
import * as rrsets from '../../store/rrsets.ts'
import type { RRset, RRsetState } from '../../store/rrsets.ts'
import type { Policy } from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import { unixTime, type Timestamp } from '../../time.ts'
import { policiesOn } from '../tokens/policies.ts'
import type { Change, Desired, ZoneState } from './changes.ts'
import { localParent } from './local-suffixes.ts'
import { clearAway, equalise, nextVersion, note, openPublication, type Publication } from './publication.ts'
import { needsRectification } from './rectification.ts'

export interface WriteOptions {
  /** Whether the domain counts as touched even if none of what was written is there. */
  touch?: boolean
}

/**
 * A zone under its lock: the one door for whatever changes it. What is done here is stored and published; it counts once
 * the publication is committed, and without commit it is undone.
 */
export class Zone implements ZoneState, AsyncDisposable {
  readonly publication: Publication
  readonly domain: Domain
  readonly current: RRset[]
  readonly policies: Policy[]
  readonly keepsNs: boolean
  /** What stands above `current`; undefined if there are too many names to look at. */
  readonly #above: RRset[] | undefined

  constructor(
    publication: Publication,
    domain: Domain,
    {
      current = [],
      above = [],
      policies = [],
    }: { current?: RRset[]; above?: RRset[] | undefined; policies?: Policy[] },
  ) {
    this.publication = publication
    this.domain = domain
    this.current = current
    this.policies = policies
    this.keepsNs = localParent(domain.name, publication.system.config.localPublicSuffixes) !== undefined
    this.#above = above
  }

  /**
   * Carries changes out: stores, publishes, commits. Once it resolves, the new state is answered in DNS.
   * @returns the RRsets that are there after the write, in the order of the changes; undefined where there is none
   * @throws Unavailable, NameserverFailure
   */
  async write(changes: Change[], options?: WriteOptions): Promise<(RRset | undefined)[]> {
    const written = await this.apply(changes, options)
    await this.publication.commit()
    return written
  }

  /** Like `write`, but leaves the commit to the caller. */
  async apply(changes: Change[], { touch = false }: WriteOptions = {}): Promise<(RRset | undefined)[]> {
    const { system, trx } = this.publication
    const now = system.now()
    const effective = changes.filter(({ isEffective }) => isEffective)
    const idle = changes.filter(({ isEffective, after }) => !isEffective && after !== undefined)
    await rrsets.touch(trx, this.domain.id, idle, now)
    if (effective.length > 0) await this.#publish(effective, now)
    else if (touch || idle.length > 0) await domains.touch(trx, this.domain.id, now)
    return changes.map((change) => outcome(change, now))
  }

  async #publish(changes: Change[], now: Timestamp): Promise<void> {
    const { domain } = this
    const { system, trx } = this.publication
    const removed = changes.filter(({ after }) => after === undefined)
    const written = changes.flatMap(({ after }) => after ?? [])
    const growth = written.length - changes.filter(({ before }) => before !== undefined).length
    const version = nextVersion(system, domain.version)
    const rectify = domain.size + growth <= SMALL_ZONE || (await this.#needsRectification(changes))

    const storing = sendAlong(rrsets.apply(trx, domain.id, { removed, written, ...{ growth, version, rectify, now } }))
    const sending = { zone: domain.name, version, rrsets: changes.length }
    const push = this.publication.push(sending, async (attempt) => {
      if (attempt.isDoubtful) {
        await storing
        await this.publishWhole(attempt.mark)
        return
      }
      if (rectify !== domain.rectify) {
        await system.nameserver.setRectify(`${domain.name}.`, rectify)
        attempt.begun = true
      }
      // Meanwhile storing goes on. The database refuses nothing that the plan has accepted; if it fails, the mark stays.
      const rrsets = changes.map((change) => published(domain, change.after ?? { ...change.before!, records: [] }))
      await system.nameserver.publish(`${domain.name}.`, version, rrsets, rectify)
      attempt.begun = true
      await storing
    })
    // Even if the push fails, storing ends before the transaction does: else its statements would follow the rollback.
    await push.finally(() => storing.catch(() => undefined))
  }

  async #needsRectification(changes: Change[]): Promise<boolean> {
    return this.#above === undefined || inSlices(needsRectification([...this.current, ...this.#above], changes))
  }

  /**
   * Stores the first RRsets of a new domain and creates its zone; resolves with the keys that sign it.
   * @throws Unavailable, NameserverFailure; its kind is "conflict" if the zone is somebody else's
   */
  async create(written: (RRsetState | Desired)[]): Promise<Key[]> {
    const { domain } = this
    const { system, trx } = this.publication
    const { id, version, created: now } = domain
    await rrsets.apply(trx, id, { removed: [], written, growth: written.length, version, rectify: true, now })
    return this.publication.push({ zone: domain.name, version, rrsets: written.length }, async (attempt) => {
      if (attempt.isDoubtful) {
        if (!(await clearAway(system, attempt.mark)))
          throw new NameserverFailure('conflict', 'somebody else made the zone')
        await note(system, attempt.mark, version, written.length)
      }
      const rrsets = await mapInSlices(written, (rrset) => published(domain, rrset))
      await system.nameserver.createZone(`${domain.name}.`, version, rrsets)
      attempt.begun = true
      return system.nameserver.keys(`${domain.name}.`)
    })
  }

  /** Deletes the domain and its zone. @throws Unavailable, NameserverFailure */
  async remove(): Promise<void> {
    const { name, size } = this.domain
    const { system, trx } = this.publication
    await domains.remove(trx, this.domain, unixTime(system.now()))
    await this.publication.push({ zone: name, version: null, rrsets: size }, async ({ isDoubtful, mark }) => {
      if (isDoubtful) await note(system, mark, null, size)
      await system.nameserver.deleteZone(`${name}.`)
    })
  }

  /** Makes the zone at the nameserver, which may be anything, what the database says. Returns its version. */
  async publishWhole(mark: Mark): Promise<number> {
    const { system, trx } = this.publication
    const stored = await rrsets.list(trx, this.domain.id)
    const desired = await mapInSlices(stored, (rrset) => published(this.domain, rrset))
    const version = await equalise(system, mark, this.domain, desired)
    await domains.setRepaired(trx, this.domain.id, version)
    return version
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publication[Symbol.asyncDispose]()
  }
}

/**
 * Opens the actor's zone for one write.
 * @param subnames where the plan may look and change
 * @throws NotFound, Unavailable
 */
export async function openZone(
  system: System,
  actor: Viewer,
  domain: Pick<Domain, 'id' | 'name'>,
  subnames: Iterable<string>,
): Promise<Zone> {
  const publication = await openPublication(system, `zone ${domain.name}`)
  try {
    const zone = await lockZone(publication, domain.name, subnames, { actor, id: domain.id })
    // Meanwhile it may have been deleted, and created again by anybody.
    if (zone?.domain.id !== domain.id) throw new NotFound()
    return zone
  } catch (error) {
    await publication[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * Locks a domain's zone; undefined if there is no such domain.
 * @param writer the token that writes, for which the domain must exist, and the domain's id; undefined: the service itself
 */
export async function lockZone(
  publication: Publication,
  name: string,
  subnames: Iterable<string>,
  writer?: { actor: Viewer; id: number },
): Promise<Zone | undefined> {
  const { trx } = publication
  const { asked, above } = await inSlices(namesToLookAt(subnames))
  // One flight; what follows the lock sees what is there once the lock is held.
  const [domain, around, policies = []] = await Promise.all([
    domains.lock(trx, name, writer?.actor),
    rrsets.atSubnames(trx, name, [...asked, ...(above ?? [])]),
    writer && policiesOn(trx, writer.actor, writer.id),
  ])
  if (domain === undefined) return undefined
  return new Zone(publication, domain, {
    current: around.filter(({ subname }) => asked.has(subname)),
    above: above && around.filter(({ subname }) => above.has(subname)),
    policies,
  })
}

/** The subnames that a write is about, and those above them, where a delegation may stand: undefined if these are many. */
function* namesToLookAt(subnames: Iterable<string>): Work<{ asked: Set<string>; above: Set<string> | undefined }> {
  // A longer subname cannot be there.
  const asked = new Set([...subnames].filter((subname) => subname.length <= SUBNAME_LENGTH))
  const above = new Set<string>()
  for (const subname of asked) {
    for (const name of withAncestors(subname)) if (!asked.has(name)) above.add(name)
    if (above.size > ANCESTORS) return { asked, above: undefined }
    yield
  }
  return { asked, above }
}

/** The RRset that a change leaves. One that is accepted as it is keeps the order of its records. */
function outcome({ before, after, isEffective }: Change, now: Timestamp): RRset | undefined {
  if (after === undefined) return undefined
  if (before !== undefined && !isEffective) return { ...before, touched: now }
  const { subname, type, ttl, records } = after
  return { subname, type, ttl, records, created: before?.created ?? now, touched: now }
}

/** An RRset as the nameserver shall serve it; its records are parsed, unless they have just been. */
export function published(domain: Pick<Domain, 'name'>, rrset: RRsetState | Desired): PublishedRRset {
  const { subname, type, ttl, records } = rrset
  const contents = 'contents' in rrset ? rrset.contents : records.map((text) => parseRdata(type, text).backend)
  return { name: nameOf(domain, subname), type, ttl, records: contents }
}
