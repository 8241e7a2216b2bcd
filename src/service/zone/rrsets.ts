import { AUTOMATIC_TYPES } from '../../dns/types.ts'
import { isSubname } from '../../dns/names.ts'
import { Denied, Invalid, NameserverFailure, NotFound } from '../../errors.ts'
import type { Domain } from '../../store/domains.ts'
import * as store from '../../store/rrsets.ts'
import type { Filter, RRset } from '../../store/rrsets.ts'
import { DYNDNS_TTL } from '../../limits.ts'
import { inSlices } from '../../slices.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../tokens/actor.ts'
import { planMany, refusals, type ItemInput } from './bulk.ts'
import { accepted, changeOf, permitted, planOne, type Change, type ZoneState } from './changes.ts'
import { examineMany, examineOne, type Conditions } from './conditions.ts'
import type { Cursor, Page } from '../pagination.ts'
import { authoriseWrites, type RRsetKey } from '../tokens/policies.ts'
import type { Method, RRsetInput } from './rrset-input.ts'
import { openZone, type WriteOptions, type Zone } from './zone.ts'

export type { RRset }

/** @throws Denied if the service makes RRsets of this type itself (contract §8.9) */
export function refuseAutomatic(type: string): void {
  if (AUTOMATIC_TYPES.has(type)) throw new Denied(`You cannot tinker with the ${type} RRset.`)
}

/** A page of a domain's RRsets, newest first, as far as they equal what is given (contract §8.8). */
export async function list(system: System, domain: Domain, filter: Filter, cursor?: Cursor): Promise<Page<RRset>> {
  if (filter.type !== undefined) refuseAutomatic(filter.type)
  if (!isStorable(filter)) return { rows: [], newer: undefined, older: undefined }
  return store.page(system.db, domain.id, filter, cursor)
}

/** How many RRsets the domain has, as far as they equal what is given. */
export async function count(system: System, domain: Domain, filter: Filter): Promise<number> {
  if (filter.subname === undefined && filter.type === undefined) return domain.size
  return store.count(system.db, domain.id, filter)
}

/** @throws NotFound */
export async function get(system: System, domain: Domain, place: RRsetKey): Promise<RRset> {
  const [rrset] = isStorable(place) ? await store.list(system.db, domain.id, place) : []
  if (rrset === undefined) throw new NotFound()
  return rrset
}

/** Creates one RRset. @throws Invalid, Denied, PreconditionFailed */
export async function create(
  system: System,
  actor: Actor,
  domain: Domain,
  input: RRsetInput,
  conditions: Conditions,
): Promise<RRset> {
  await using zone = await openZone(system, actor, domain, subnamesOf([input]))
  const change = planOne(zone, 'POST', input)
  examineMany(zone, [change], conditions)
  return (await writeOne(zone, change))!
}

/**
 * Replaces (PUT) or changes (PATCH) one RRset; without records it is deleted.
 * @param input is asked for only when the RRset is known to exist and to be the caller's to write (contract §1.2)
 * @returns undefined if the RRset is deleted
 * @throws NotFound, Invalid, Denied, PreconditionFailed
 */
export async function change(
  system: System,
  actor: Actor,
  domain: Domain,
  place: RRsetKey,
  method: 'PUT' | 'PATCH',
  input: () => RRsetInput,
  conditions: Conditions,
): Promise<RRset | undefined> {
  if (!isStorable(place)) throw new NotFound()
  await using zone = await openZone(system, actor, domain, [place.subname])
  if (present(zone, place) === undefined) throw new NotFound()
  authoriseWrites(zone.policies, domain.id, [place])
  const change = planOne(zone, method, input(), place)
  examineOne(change, conditions)
  return await writeOne(zone, change)
}

/** Deletes one RRset, if it exists. @throws Denied, PreconditionFailed */
export async function remove(
  system: System,
  actor: Actor,
  domain: Domain,
  place: RRsetKey,
  conditions: Conditions,
): Promise<void> {
  if (!isStorable(place)) {
    examineOne({ before: undefined }, conditions)
    return
  }
  await using zone = await openZone(system, actor, domain, [place.subname])
  const before = present(zone, place)
  if (before !== undefined) authoriseWrites(zone.policies, domain.id, [place])
  const change = accepted(permitted(zone, changeOf({ ...place, before, after: undefined })))
  examineOne(change, conditions)
  await writeOne(zone, change)
}

/**
 * Creates, replaces, changes and deletes RRsets as contract §8.7 says; all or none.
 * @returns those that are there then, in the order of the request
 * @throws Invalid with the problems of each item, Denied, PreconditionFailed
 */
export async function writeMany(
  system: System,
  actor: Actor,
  domain: Domain,
  method: Method,
  inputs: ItemInput[],
  conditions: Conditions,
): Promise<RRset[]> {
  await using zone = await openZone(system, actor, domain, subnamesOf(inputs))
  const changes = await inSlices(planMany(zone, method, inputs))
  examineMany(zone, changes, conditions)
  const written = await writeAll(zone, changes)
  return written.filter((rrset) => rrset !== undefined)
}

/**
 * Changes the addresses at some names, as a bulk PATCH does, but with a TTL of their own (contract §10.5). The domain
 * counts as touched in any case.
 * @param inputs what is wanted, given what is there at `subnames`
 * @throws Invalid with the problems of each item, Denied
 */
export async function writeAddresses(
  system: System,
  actor: Actor,
  domain: Domain,
  subnames: string[],
  inputs: (current: RRset[]) => RRsetInput[],
): Promise<void> {
  await using zone = await openZone(system, actor, domain, subnames.filter(isSubname))
  const { domain: stored, current, policies, keepsNs } = zone
  const lenient = { domain: { ...stored, minimumTtl: DYNDNS_TTL }, current, policies, keepsNs }
  await writeAll(zone, await inSlices(planMany(lenient, 'PATCH', inputs(current))), { touch: true })
}

/** The subnames that a request names, as far as anything can be there. */
function* subnamesOf(inputs: RRsetInput[]): Generator<string> {
  for (const { subname = '', type } of inputs) if (type !== undefined && isSubname(subname)) yield subname
}

/** @throws Invalid if PowerDNS refuses the RRset */
async function writeOne(zone: Zone, change: Change): Promise<RRset | undefined> {
  try {
    const [rrset] = await zone.write([change])
    return rrset
  } catch (error) {
    if (isRefusal(error)) throw Invalid.object(`The DNS backend refused this RRset: ${error.message}`)
    throw error
  }
}

/** @throws Invalid at the position of what PowerDNS refuses */
async function writeAll(zone: Zone, changes: Change[], options?: WriteOptions): Promise<(RRset | undefined)[]> {
  try {
    return await zone.write(changes, options)
  } catch (error) {
    if (isRefusal(error)) throw new Invalid(refusals(zone.domain, changes, error))
    throw error
  }
}

function isRefusal(error: unknown): error is NameserverFailure {
  return error instanceof NameserverFailure && error.kind === 'refused'
}

function present(zone: ZoneState, place: RRsetKey): RRset | undefined {
  return zone.current.find(({ subname, type }) => subname === place.subname && type === place.type)
}

/** Whether an RRset could have this place at all; the database need not be asked about anything else. */
function isStorable({ subname, type }: { subname?: string | undefined; type?: string | undefined }): boolean {
  return (subname === undefined || isSubname(subname)) && (type === undefined || /^[A-Z][A-Z0-9]*$/.test(type))
}
