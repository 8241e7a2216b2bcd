import { conflictProblem } from '../../dns/node.ts'
import { Conflict, Invalid, Obstructed, orNotFound, PreconditionFailed, refusalOf } from '../../errors.ts'
import { inSlices, mapInSlices, type Work } from '../../flow/slices.ts'
import type { Db } from '../../store/database.ts'
import { type Domain, isConfined, type LockedDomain } from '../../store/domains/domains.ts'
import { buried, type DeletedDomain } from '../../store/zone/deleted-domains.ts'
import type { Step } from '../../store/zone/history.ts'
import * as store from '../../store/zone/history.ts'
import type { ListFilter, RRset, RRsetKey, RRsetState } from '../../store/zone/rrsets.ts'
import { before, type Timestamp } from '../../time.ts'
import { shownTo } from '../activity/activity.ts'
import type { Access, Writer } from '../actor.ts'
import { isUuid } from '../ids.ts'
import { wordsOf } from '../names/history-search.ts'
import { type Cursor, EMPTY, type Page } from '../pagination.ts'
import { checkConditions, tagOfDomain, type Terms } from '../rrsets/conditions.ts'
import { isStorable } from '../rrsets/rrsets.ts'
import { inSearchTurn } from '../throttling/callers.ts'
import { authoriseEach } from '../tokens/policies.ts'
import { accepted, type Change, changeOf, permitted, rrsetKey, type Written } from '../zone/changes.ts'
import { openZone } from '../zone/opening.ts'
import type { Zone } from '../zone/zone.ts'

/** What can happen to a domain itself, and why its undo is rejected. */
const LASTING = {
  creation: 'The creation of a domain cannot be undone.',
  deletion: 'The deletion of a domain cannot be undone: it has come back.',
  return: 'The return of a domain cannot be undone: delete the domain.',
}
const ROLLOVER_STAYS = 'A replacement of keys cannot be undone: cancel it, or bring the former keys back.'

export type DomainEvent = keyof typeof LASTING
export const EVENTS = Object.keys(LASTING) as DomainEvent[]

/** An entry of a domain's history as its readers see it. */
export interface Entry extends Omit<store.Entry, 'event'> {
  /** null unless it is about the domain itself. */
  event: DomainEvent | null
}

export { ACTIONS, SOURCES, timeIn } from '../../store/zone/history.ts'
export type { Step }

/** Returns a page of the entries with such a change, and the words of the search, newest first (contract §15.5). */
export async function list(access: Access, filter: ListFilter, cursor?: Cursor): Promise<Page<Entry>> {
  const { system, actor, domain } = access
  const words = wordsOf(filter.search ?? '', domain.name)
  if (!isStorable(filter) || words === undefined) return EMPTY
  const search =
    words.length === 0 ? undefined : { words, seesAuthors: actor.permManageTokens, creation: domain.created }
  const read = () => store.page(system.db, domain.id, { ...filter, search }, cursor)
  const page = await (search === undefined ? read() : inSearchTurn(access, read))
  return { ...page, rows: page.rows.map((entry) => withEvent(domain, shownTo(actor, entry))) }
}

/** Counts the entries that pass the filter; of a search, all of the domain, because counting would look at all of them. */
export async function count({ system, domain }: Access, filter: ListFilter): Promise<number> {
  if (!isStorable(filter)) return 0
  return store.count(system.db, domain.id, filter.search ? {} : filter)
}

/** @throws NotFound */
export async function get(access: Access, id: string): Promise<Entry> {
  return withEvent(access.domain, shownTo(access.actor, await entryOf(access, id)))
}

async function entryOf({ system, domain }: Access, id: string): Promise<store.WholeEntry> {
  return orNotFound(isUuid(id) ? await store.find(system.db, domain.id, id) : undefined)
}

function withEvent(domain: Domain, entry: store.Entry): Entry {
  return { ...entry, event: eventOf(domain, entry) }
}

function eventOf({ created }: Domain, entry: store.Entry): DomainEvent | null {
  return entry.created === created ? 'creation' : entry.event
}

/**
 * Puts each RRset of an entry back to its state before (contract §15.5).
 * @throws NotFound, Denied, PreconditionFailed, Invalid; Obstructed if one of them was changed since; Conflict if the
 * entry is a repair, or is about a rollover or the domain itself
 */
export async function undo(access: Access, id: string, terms: Terms): Promise<Written> {
  const entry = await entryOf(access, id)
  const { source, changes: steps } = entry
  const event = eventOf(access.domain, entry)
  if (source === 'repair') throw new Conflict('A repair cannot be undone.')
  if (source === 'rollover') throw new Conflict(ROLLOVER_STAYS)
  if (event !== null) throw new Conflict(LASTING[event])
  const subnames = [...new Set(steps.map(({ subname }) => subname))]
  await using zone = await openZone(access, subnames, { dryRun: terms.dryRun, source: 'undo' })
  const changes = await inSlices(changesFrom(zone.current, steps))
  await authoriseEach(zone.policies, zone.domain.id, changes)
  const conflicts = [...(await changed(zone, steps)), ...excluded(zone, steps)]
  if (conflicts.length > 0) throw new Obstructed(conflicts.map(({ subname, type }) => ({ subname, type })))
  return await carryOut(zone, changes, terms)
}

/** Returns the RRsets that have changed since an entry. */
async function changed({ current }: Zone, steps: Step[]): Promise<RRsetKey[]> {
  const states = steps.map(({ subname, type, after }) => ({ subname, type, before: after }))
  return inSlices(changesFrom(current, states))
}

/** Returns the other RRsets that would conflict with those that come back: one of them would be a CNAME. */
function excluded({ current }: Zone, steps: Step[]): RRsetKey[] {
  const own = new Set(steps.map(rrsetKey))
  const coming = new Map<string, string[]>()
  for (const { subname, type, before } of steps) {
    if (before !== undefined) coming.set(subname, [...(coming.get(subname) ?? []), type])
  }
  return current
    .filter((rrset) => !own.has(rrsetKey(rrset)))
    .filter(({ subname, type }) =>
      (coming.get(subname) ?? []).some((other) => conflictProblem(other, [{ source: 'database', type }]) !== undefined),
    )
}

/** A state that a domain had: at a time, or with a version. */
export type When = { at: Timestamp } | { version: number }

/**
 * Restores a state of the domain's RRsets (contract §15.5).
 * @throws Denied, PreconditionFailed; Invalid if that state is not known
 */
export async function restore(access: Access<Writer>, when: When, terms: Terms): Promise<Written> {
  await using zone = await openZone(access, 'all', { dryRun: terms.dryRun, source: 'restore' })
  const { domain, publication } = zone
  const { system, trx } = publication
  const time = await timeOf(trx, domain, when, system.now())
  const changes = await inSlices(changesFrom(zone.current, await store.statesAt(trx, domain.id, time)))
  await authoriseEach(zone.policies, zone.domain.id, changes)
  return await carryOut(zone, changes, terms)
}

/** Returns the time when the domain got the wanted state, or a later time before the next one. @throws Invalid */
async function timeOf(trx: Db, domain: LockedDomain, when: When, now: Timestamp): Promise<Timestamp> {
  const oldest = (await store.oldest(trx, domain.id)) ?? { created: domain.published, version: domain.version }
  if ('at' in when) {
    if (when.at < oldest.created || when.at > now) throw Invalid.field('at', 'There is no history of that time.')
    return when.at
  }
  if (when.version < oldest.version || when.version > domain.version) {
    throw Invalid.field('version', 'There is no history of that version.')
  }
  return (await store.reached(trx, domain.id, when.version)) ?? oldest.created
}

/** Returns the changes with an effect that lead to the states before these steps. Yields after each RRset. */
function* changesFrom(current: RRset[], steps: Omit<Step, 'after'>[]): Work<Change[]> {
  const rrsets = new Map<string, RRset>()
  for (const rrset of current) {
    rrsets.set(rrsetKey(rrset), rrset)
    yield
  }
  const changes: Change[] = []
  for (const { subname, type, before: state } of steps) {
    const after = state && { subname, type, ttl: state.ttl, records: state.records }
    const change = changeOf({ subname, type, before: rrsets.get(rrsetKey({ subname, type })), after })
    if (change.isEffective) changes.push(change)
    yield
  }
  return changes
}

/** @throws Invalid if the account may not make one of the changes, or PowerDNS rejects one; PreconditionFailed */
async function carryOut(zone: Zone, changes: Change[], terms: Terms): Promise<Written> {
  await mapInSlices(changes, (change) => accepted(permitted(zone, change)))
  // `If-None-Match` has no meaning here.
  if (terms.noneMatch !== undefined) throw new PreconditionFailed()
  checkConditions(terms, tagOfDomain(zone.domain))
  return zone.write(changes).catch((error: unknown) => {
    const refusal = refusalOf(error)
    throw refusal === undefined ? error : Invalid.object(`The DNS backend refused this state: ${refusal.message}`)
  })
}

/** A deleted domain, and the RRsets with which it comes back. */
export type Deleted = DeletedDomain & { rrsets: RRsetState[] }

/**
 * Finds the domain of this name that the writer's account deleted last; with `at`, the one that existed then. No policy
 * names a deleted domain, so a confined writer does not see it.
 * @param at the time of its state; undefined: its deletion
 * @throws Invalid if none exists, or its state is not known
 */
export async function deletedDomain(trx: Db, name: string, writer: Writer, at?: Timestamp): Promise<Deleted> {
  const domain = isConfined(writer) ? undefined : await buried(trx, name, writer.accountId, at)
  const oldest = domain && (await store.oldest(trx, domain.id))
  if (domain === undefined || oldest === undefined) throw Invalid.field('name', 'There is nothing to restore.')
  if (at !== undefined && (at < oldest.created || at > domain.deleted)) {
    throw Invalid.field('at', 'There is no history of that time.')
  }
  const states = await store.statesAt(trx, domain.id, at ?? before(domain.deleted))
  const rrsets = states.flatMap(({ subname, type, before: state }) => {
    return state === undefined ? [] : { subname, type, ...state }
  })
  return { ...domain, rrsets }
}
