import { isSubname } from '../../dns/names.ts'
import { AUTOMATIC_TYPES } from '../../dns/types.ts'
import { Denied, Invalid, NameserverFailure, NotFound, Occluded, orNotFound } from '../../errors.ts'
import { inSlices } from '../../flow/slices.ts'
import { DYNDNS_TTL } from '../../limits.ts'
import type { Filter, ListFilter, RRset, RRsetKey, RRsetState } from '../../store/zone/rrsets.ts'
import * as store from '../../store/zone/rrsets.ts'
import type { Access } from '../actor.ts'
import { searchedText } from '../names/search.ts'
import { type Cursor, EMPTY, type Page } from '../pagination.ts'
import { authoriseWrites } from '../tokens/policies.ts'
import { accepted, type Change, changeOf, permitted, planOne, type Written, type ZoneState } from '../zone/changes.ts'
import type { Source } from '../zone/journal.ts'
import { openZone } from '../zone/opening.ts'
import type { Method, RRsetInput } from '../zone/rrset-input.ts'
import type { Zone } from '../zone/zone.ts'
import { type ItemInput, occlusionProblems, planMany, refusals } from './bulk.ts'
import { checkConditions, tagOf, tagOfDomain, type Terms } from './conditions.ts'

export type { RRset, RRsetKey, RRsetState }

/** @throws Denied if the service generates RRsets of this type itself (contract §8.9) */
export function refuseAutomatic(type: string): void {
  if (AUTOMATIC_TYPES.has(type)) throw new Denied(`You cannot tinker with the ${type} RRset.`)
}

/** Returns a page of the domain's RRsets that pass the filter, newest first (contract §8.8). */
export async function list({ system, domain }: Access, filter: ListFilter, cursor?: Cursor): Promise<Page<RRset>> {
  if (filter.type !== undefined) refuseAutomatic(filter.type)
  const stored = storedForm(filter)
  return stored === undefined ? EMPTY : store.page(system.db, domain.id, stored, cursor)
}

/** Counts the domain's RRsets that pass the filter. */
export async function count({ system, domain }: Access, filter: ListFilter): Promise<number> {
  if (Object.values(filter).every((value) => value === undefined)) return domain.size
  const stored = storedForm(filter)
  return stored === undefined ? 0 : store.count(system.db, domain.id, stored)
}

/** Returns the filter as stored RRsets can match it; undefined if none can. */
function storedForm(filter: ListFilter): ListFilter | undefined {
  if (!isStorable(filter)) return undefined
  if (filter.search === undefined) return filter
  const search = searchedText(filter.search)
  return search === undefined ? undefined : { ...filter, search }
}

/** @throws NotFound */
export async function get({ system, domain }: Access, key: RRsetKey): Promise<RRset> {
  const [rrset] = isStorable(key) ? await store.list(system.db, domain.id, key) : []
  return orNotFound(rrset)
}

/** Creates one RRset. @throws Invalid, Denied, PreconditionFailed */
export async function create(access: Access, input: RRsetInput, terms: Terms): Promise<Written> {
  await using zone = await openZone(access, subnamesOf([input]), { dryRun: terms.dryRun })
  const change = await inSlices(planOne(zone, 'POST', input))
  checkConditions(terms, tagOfDomain(zone.domain), change.before !== undefined)
  return await writeOne(zone, change)
}

/**
 * Replaces (PUT) or changes (PATCH) one RRset; an empty list of records deletes it.
 * @param write.input reads the request; called only if the RRset exists and the caller may write it (contract §1.2)
 * @throws NotFound, Invalid, Denied, PreconditionFailed
 */
export async function change(
  access: Access,
  key: RRsetKey,
  { method, input, terms }: { method: 'PUT' | 'PATCH'; input: () => RRsetInput; terms: Terms },
): Promise<Written> {
  if (!isStorable(key)) throw new NotFound()
  await using zone = await openZone(access, [key.subname], { dryRun: terms.dryRun })
  const before = orNotFound(currentRRset(zone, key))
  authoriseWrites(zone.policies, zone.domain.id, [key])
  const change = await inSlices(planOne(zone, method, input(), key))
  checkConditions(terms, tagOf(before))
  return await writeOne(zone, change)
}

/** Deletes one RRset, if it exists. @throws Denied, PreconditionFailed */
export async function remove(access: Access, key: RRsetKey, terms: Terms): Promise<Written> {
  if (!isStorable(key)) {
    checkConditions(terms, undefined)
    return { changes: [], rrsets: [], version: undefined }
  }
  await using zone = await openZone(access, [key.subname], { dryRun: terms.dryRun })
  const before = currentRRset(zone, key)
  if (before !== undefined) authoriseWrites(zone.policies, zone.domain.id, [key])
  const change = accepted(permitted(zone, changeOf({ ...key, before, after: undefined })))
  checkConditions(terms, before && tagOf(before))
  return await writeOne(zone, change)
}

/**
 * Creates, replaces, changes and deletes RRsets (contract §8.7); all or nothing.
 * @throws Invalid with the problems of each item, Denied, PreconditionFailed
 */
export async function writeMany(access: Access, method: Method, inputs: ItemInput[], terms: Terms): Promise<Written> {
  await using zone = await openZone(access, subnamesOf(inputs), { dryRun: terms.dryRun })
  return await writeItems(zone, method, inputs, terms)
}

/**
 * Changes RRsets like a bulk PATCH of a request that depends on the present ones: no other write comes in between.
 * @param inputs makes the request from the current RRsets at `subnames`
 * @throws Invalid with the problems of each item, Denied, PreconditionFailed
 */
export async function amend(
  access: Access,
  subnames: string[],
  inputs: (current: RRset[]) => Promise<RRsetInput[]>,
  { terms, source }: { terms: Terms; source: Source },
): Promise<Written> {
  await using zone = await openZone(access, subnames.filter(isSubname), { dryRun: terms.dryRun, source })
  return await writeItems(zone, 'PATCH', await inputs(zone.current), terms)
}

/**
 * Changes addresses like a bulk PATCH, except that the TTL may be below the domain's minimum (contract §10.5). Always
 * touches the domain.
 * @param inputs makes the request from the current RRsets at `subnames`
 * @throws Invalid with the problems of each item, Denied
 */
export async function writeAddresses(
  access: Access,
  subnames: string[],
  inputs: (current: RRset[]) => RRsetInput[],
): Promise<Written> {
  await using zone = await openZone(access, subnames.filter(isSubname), { source: 'dyndns' })
  const { domain: stored, current, policies, keepsNs, labelProblem } = zone
  const lenient = { domain: { ...stored, minimumTtl: DYNDNS_TTL }, current, policies, keepsNs, labelProblem }
  return await writeAll(zone, await inSlices(planMany(lenient, 'PATCH', inputs(current))), { touch: true })
}

/** Returns the subnames in a request, without those that no RRset can have. */
function subnamesOf(inputs: RRsetInput[]): string[] {
  return inputs.flatMap(({ subname = '', type }) => (type !== undefined && isSubname(subname) ? [subname] : []))
}

/** Plans and writes the items of a bulk request. @throws Invalid with the problems of each item, Denied, PreconditionFailed */
async function writeItems(zone: Zone, method: Method, inputs: ItemInput[], terms: Terms): Promise<Written> {
  const changes = await inSlices(planMany(zone, method, inputs))
  const isAnyPresent = changes.some(({ before }) => before !== undefined)
  checkConditions(terms, tagOfDomain(zone.domain), isAnyPresent)
  return writeAll(zone, changes)
}

/** @throws Invalid if PowerDNS rejects the RRset, or it occludes another or would be occluded */
async function writeOne(zone: Zone, change: Change): Promise<Written> {
  return zone.write([change]).catch((error: unknown) => {
    throw isRefusal(error) ? Invalid.object(`The DNS backend refused this RRset: ${error.message}`) : error
  })
}

/** @throws Invalid at the position of the RRset that PowerDNS rejects, or that occludes or would be occluded */
async function writeAll(zone: Zone, changes: Change[], options?: { touch: boolean }): Promise<Written> {
  return zone.write(changes, options).catch((error: unknown) => {
    if (error instanceof Occluded) throw new Invalid(occlusionProblems(changes, error))
    throw isRefusal(error) ? new Invalid(refusals(zone.domain, changes, error)) : error
  })
}

/** Reports whether PowerDNS has rejected the whole write, not one of several requests, of which others were applied. */
function isRefusal(error: unknown): error is NameserverFailure {
  return error instanceof NameserverFailure && error.kind === 'refused'
}

function currentRRset(zone: ZoneState, key: RRsetKey): RRset | undefined {
  return zone.current.find(({ subname, type }) => subname === key.subname && type === key.type)
}

/** Reports whether an RRset can have this subname and type; if not, the database need not be asked. */
export function isStorable({ subname, type }: Filter): boolean {
  return (subname === undefined || isSubname(subname)) && (type === undefined || /^[A-Z][A-Z0-9]*$/.test(type))
}
