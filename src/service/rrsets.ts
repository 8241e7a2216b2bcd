import { AUTOMATIC_TYPES } from '../dns/types.ts'
import { isSubname } from '../dns/names.ts'
import { Denied, Invalid, NameserverFailure, NotFound } from '../errors.ts'
import type { Domain } from '../store/domains.ts'
import * as store from '../store/rrsets.ts'
import type { Filter, RRset } from '../store/rrsets.ts'
import type { System } from '../system.ts'
import type { Actor } from './actor.ts'
import { planOne, type Change, type RRsetInput, type Zone } from './changes.ts'
import type { Cursor, Page } from './pages.ts'
import { authoriseWrites, type Place } from './policies.ts'
import { writeZone } from './zones.ts'

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
export async function get(system: System, domain: Domain, place: Place): Promise<RRset> {
  const [rrset] = isStorable(place) ? await store.list(system.db, domain.id, place) : []
  if (rrset === undefined) throw new NotFound()
  return rrset
}

/** Creates one RRset. @throws Invalid, Denied */
export async function create(system: System, actor: Actor, domain: Domain, input: RRsetInput): Promise<RRset> {
  const subnames = input.subname !== undefined && !isSubname(input.subname) ? [] : [input.subname ?? '']
  const rrset = await writeOne(system, actor, domain, subnames, (zone) =>
    planOne(zone, 'POST', input, undefined, (place) => {
      authoriseWrites(actor, domain.id, [place])
    }),
  )
  return rrset!
}

/**
 * Replaces (PUT) or changes (PATCH) one RRset; without records it is deleted.
 * @param input is asked for only when the RRset is known to exist and to be the caller's to write (contract §1.2)
 * @returns undefined if the RRset is deleted
 * @throws NotFound, Invalid, Denied
 */
export async function change(
  system: System,
  actor: Actor,
  domain: Domain,
  place: Place,
  method: 'PUT' | 'PATCH',
  input: () => RRsetInput,
): Promise<RRset | undefined> {
  if (!isStorable(place)) throw new NotFound()
  return writeOne(system, actor, domain, [place.subname], (zone) => {
    if (present(zone, place) === undefined) throw new NotFound()
    authoriseWrites(actor, domain.id, [place])
    return planOne(zone, method, input(), place, () => undefined)
  })
}

/** Deletes one RRset, if it exists. @throws Denied */
export async function remove(system: System, actor: Actor, domain: Domain, place: Place): Promise<void> {
  if (!isStorable(place)) return
  await writeOne(system, actor, domain, [place.subname], (zone) => {
    const before = present(zone, place)
    if (before !== undefined) authoriseWrites(actor, domain.id, [place])
    return { ...place, before, after: undefined }
  })
}

async function writeOne(
  system: System,
  actor: Actor,
  domain: Domain,
  subnames: string[],
  plan: (zone: Zone) => Change,
): Promise<RRset | undefined> {
  try {
    const [rrset] = await writeZone(system, actor, domain.name, subnames, (zone) => [plan(zone)])
    return rrset
  } catch (error) {
    if (error instanceof NameserverFailure && error.kind === 'refused') {
      throw Invalid.object(`The DNS backend refused this RRset: ${error.message}`)
    }
    throw error
  }
}

function present(zone: Zone, place: Place): RRset | undefined {
  return zone.current.find(({ subname, type }) => subname === place.subname && type === place.type)
}

/** Whether an RRset could have this place at all; the database need not be asked about anything else. */
function isStorable({ subname, type }: { subname?: string | undefined; type?: string | undefined }): boolean {
  return (subname === undefined || isSubname(subname)) && (type === undefined || /^[A-Z][A-Z0-9]*$/.test(type))
}
