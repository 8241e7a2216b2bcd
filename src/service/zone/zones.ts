import { NotFound } from '../../errors.ts'
import { SMALL_ZONE } from '../../limits.ts'
import { nameOf, SUBNAME_LENGTH, withAncestors } from '../../dns/names.ts'
import { parseRdata } from '../../dns/rdata.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import { sendAlong, textArray, type Db } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import type { Domain } from '../../store/domains.ts'
import * as rrsets from '../../store/rrsets.ts'
import type { RRset, RRsetState } from '../../store/rrsets.ts'
import type { Mark } from '../../store/marks.ts'
import { atOnce, inSlices, lazily, mapped, type Work } from '../../slices.ts'
import type { System } from '../../system.ts'
import type { Timestamp } from '../../time.ts'
import type { Actor } from '../tokens/actor.ts'
import { localParent } from './local-suffixes.ts'
import { isEffective, type Change, type Desired, type Zone } from './changes.ts'
import { sees } from '../tokens/policies.ts'
import { equalise, nextVersion, publishing, type UnderMark } from './publication.ts'
import { changesStructure } from './rectification.ts'

export interface WriteOptions {
  /** Whether the domain counts as touched even if nothing is there of what was written. */
  touch?: boolean
}

/**
 * The one door for record changes: plans under the domain's lock, stores, publishes, commits; all of it or nothing.
 * Once it resolves, the new state is answered in DNS.
 * @param subnames where the plan may look and change
 * @param plan what shall change, given what is there; it may throw, then nothing happens
 * @returns the RRsets that are there after the write, in the order of the plan; undefined where there is none
 * @throws NotFound, Unavailable, NameserverFailure, and whatever `plan` throws
 */
export async function writeZone(
  system: System,
  actor: Actor,
  name: string,
  subnames: Iterable<string>,
  plan: (zone: Zone) => Change[] | Promise<Change[]>,
  { touch = false }: WriteOptions = {},
): Promise<(RRset | undefined)[]> {
  const places = await inSlices(lookedUp(subnames))
  return system.queues.run(name, () =>
    publishing(system, async (trx, underMark) => {
      const written = await write(system, trx, underMark, name, { ...places, touch }, (zone) => {
        if (!sees(actor, zone.domain)) throw new NotFound()
        return plan(zone)
      })
      if (written === undefined) throw new NotFound()
      return written
    }),
  )
}

/** As `writeZone`, but in a transaction that does more, and in whose name ever; undefined if there is no such domain. */
export async function writeAlso(
  system: System,
  trx: Db,
  underMark: UnderMark,
  name: string,
  subname: string,
  plan: (zone: Zone) => Change[],
): Promise<(RRset | undefined)[] | undefined> {
  return write(system, trx, underMark, name, { ...atOnce(lookedUp([subname])), touch: false }, plan)
}

async function write(
  system: System,
  trx: Db,
  underMark: UnderMark,
  name: string,
  { above, looked, touch }: Places & { touch: boolean },
  plan: (zone: Zone) => Change[] | Promise<Change[]>,
): Promise<(RRset | undefined)[] | undefined> {
  // One flight; the second statement sees what is there once the first has the lock.
  const [domain, around] = await Promise.all([domains.lock(trx, name), rrsets.atSubnames(trx, name, looked)])
  if (domain === undefined) return undefined
  const changes = await plan({
    domain,
    current: around.filter(({ subname }) => !above.has(subname)),
    keepsNs: localParent(name, system.config.localPublicSuffixes) !== undefined,
  })
  const { effective, idle, removed, written, growth } = await inSlices(sorted(changes))
  const now = system.now()

  await rrsets.touch(trx, domain.id, idle, now)
  if (effective.length === 0) {
    if (touch || idle.length > 0) await domains.touch(trx, domain.id, now)
    return inSlices(mapped(changes, (change) => outcome(change, now)))
  }
  const version = nextVersion(system, domain.version)
  const rectify = domain.size + growth <= SMALL_ZONE || (await inSlices(changesStructure(around, effective)))
  const storing = sendAlong(rrsets.apply(trx, domain.id, { removed, written, ...{ growth, version, rectify, now } }))
  const sending = { zone: name, version, rrsets: effective.length }
  const push = underMark(sending, async (attempt) => {
    if (attempt.isDoubtful) {
      await storing
      await publishWhole(system, trx, attempt.mark, domain)
      return
    }
    if (rectify !== domain.rectify) {
      await system.nameserver.setRectify(`${name}.`, rectify)
      attempt.begun = true
    }
    // Meanwhile storing goes on. It has nothing to refuse that the plan has not; if it fails, the mark stays.
    const toPublish = lazily(effective, (change) => changed(domain, change))
    await system.nameserver.publish(`${name}.`, version, toPublish, rectify)
    attempt.begun = true
    await storing
  })
  // Even if there is no push, storing has ended before the transaction does: else its rest would follow the end.
  await push.finally(() => storing.catch(() => undefined))
  return inSlices(mapped(changes, (change) => outcome(change, now)))
}

/** Makes the zone at the nameserver, which may be anything, what the database says. */
export async function publishWhole(system: System, trx: Db, mark: Mark, domain: Domain): Promise<number> {
  const desired = (await rrsets.list(trx, domain.id)).map((rrset) => published(domain, rrset))
  const version = await equalise(system, mark, domain, desired)
  await domains.setRepaired(trx, domain.id, version)
  return version
}

/** Where a write looks. */
interface Places {
  /** The subnames above those that it is about, where a delegation may stand. */
  above: Set<string>
  /** All of them as a Postgres array. */
  looked: string
}

function* lookedUp(subnames: Iterable<string>): Work<Places> {
  const asked = new Set<string>()
  for (const subname of subnames) {
    // What is longer cannot be there.
    if (subname.length <= SUBNAME_LENGTH) asked.add(subname)
    yield
  }
  const above = new Set<string>()
  for (const subname of asked) {
    for (const place of withAncestors(subname)) if (!asked.has(place)) above.add(place)
    yield
  }
  return { above, looked: yield* textArray(asked, above) }
}

/** What a plan comes to: `idle` are the RRsets that are accepted as they are. */
interface Sorted {
  effective: Change[]
  idle: Change[]
  removed: Change[]
  written: RRsetState[]
  /** How many RRsets more there are then. */
  growth: number
}

function* sorted(changes: Change[]): Work<Sorted> {
  const all: Sorted = { effective: [], idle: [], removed: [], written: [], growth: 0 }
  for (const change of changes) {
    const { before, after } = change
    if (isEffective(change)) {
      all.effective.push(change)
      if (after === undefined) all.removed.push(change)
      else all.written.push(after)
      all.growth += Number(after !== undefined) - Number(before !== undefined)
    } else if (after !== undefined) all.idle.push(change)
    yield
  }
  return all
}

/** The RRset that a change leaves. One that is accepted as it is keeps the order of its records. */
function outcome(change: Change, now: Timestamp): RRset | undefined {
  const { before, after } = change
  if (after === undefined) return undefined
  if (before !== undefined && !isEffective(change)) return { ...before, touched: now }
  const { subname, type, ttl, records } = after
  return { subname, type, ttl, records, created: before?.created ?? now, touched: now }
}

/** An RRset as the nameserver shall serve it; its records are read, if they have not been just now. */
export function published(domain: Pick<Domain, 'name'>, rrset: RRsetState | Desired): PublishedRRset {
  const { subname, type, ttl, records } = rrset
  const contents = 'contents' in rrset ? rrset.contents : records.map((text) => parseRdata(type, text).backend)
  return { name: nameOf(domain, subname), type, ttl, records: contents }
}

function changed(domain: Domain, { subname, type, before, after }: Change): PublishedRRset {
  if (after !== undefined) return published(domain, after)
  return { name: nameOf(domain, subname), type, ttl: before!.ttl, records: [] }
}
