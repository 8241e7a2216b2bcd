import { isDomainName, lowerCase, topLabel, withAncestors } from '../../dns/names.ts'
import { Conflict, Denied, NotFound, orNotFound, unlessNotFound } from '../../errors.ts'
import { mapInSlices } from '../../flow/slices.ts'
import { DOMAIN_NAME_LENGTH, NAME_LENGTH } from '../../limits.ts'
import { type Denial, DENIALS } from '../../nameserver/nameserver.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import { confirmPrimary, type Db, together } from '../../store/database.ts'
import type { Domain, LockedDomain, OwnedDomain, Viewer } from '../../store/domains/domains.ts'
import * as store from '../../store/domains/domains.ts'
import * as interventions from '../../store/domains/interventions.ts'
import type { Policy } from '../../store/tokens/tokens.ts'
import type { RRset } from '../../store/zone/rrsets.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import type { Access, Visit, Writer } from '../actor.ts'
import { record } from '../events.ts'
import { searchedText } from '../names/search.ts'
import { type Cursor, EMPTY, type Page } from '../pagination.ts'
import { clearLeftovers } from '../repair/reconcile.ts'
import { checkConditions, type Conditions, tagOfDomain } from '../rrsets/conditions.ts'
import { present, type Presented } from '../tokens/authentication.ts'
import { mayWrite } from '../tokens/policies.ts'
import { scanForMembers } from '../work/work.ts'
import { lockZone, openZone } from '../zone/opening.ts'
import { openPublication } from '../zone/publication.ts'
import { withdraw } from './delegations.ts'
import type { Key } from './keys.ts'

/** The number of labels that an error names. */
const LABELS_SHOWN = 10

export { DENIALS }
export type { Domain, Key, OwnedDomain }

/** Returns the domain of this name, if the actor may see it. @throws NotFound */
export async function get({ system, actor }: Visit<Viewer>, name: string): Promise<Domain> {
  return orNotFound(isDomainName(name) ? await store.find(system.db, name, actor) : undefined)
}

/** Returns the domain of this name, regardless of its owner. */
export async function find(system: System, name: string): Promise<Domain | undefined> {
  return isDomainName(name) ? store.find(system.db, name) : undefined
}

/** Reads a presented token, as `authenticate` does, and the domain of this name, regardless of its owner: in one packet. */
export async function findForToken(
  system: System,
  name: string,
  secret: string,
  address: string,
): Promise<[Presented, Domain | undefined]> {
  return together(system.db, (db) =>
    Promise.all([present(system, db, secret, address), isDomainName(name) ? store.find(db, name) : undefined]),
  )
}

/** Returns the domain, if it exists and the actor may see it. @throws NotFound */
export async function visible(visit: Visit<Viewer>, domain: Domain | undefined): Promise<Domain> {
  if (domain?.ownerId !== visit.actor.accountId) throw new NotFound()
  // The policies of a confined actor determine the domains that it may see.
  return store.isConfined(visit.actor) ? get(visit, domain.name) : domain
}

/** The domains of a list: the one that contains a name, and those whose names contain a text (contract §7.5). */
export interface DomainFilter {
  qname?: string | undefined
  search?: string | undefined
}

/** Returns a page of the actor's domains that pass the filter, newest first. */
export async function list(visit: Visit, wanted: DomainFilter, cursor?: Cursor): Promise<Page<Domain>> {
  const { filter, rows } = await filterOf(visit, wanted)
  if (filter === undefined) return EMPTY
  if (rows !== undefined && cursor === undefined) return { ...EMPTY, rows }
  return store.page(visit.system.db, visit.actor, cursor, filter)
}

/** Returns all of the actor's domains whose names contain a text, in pages, newest first. */
export async function* pages(visit: Visit, search = ''): AsyncGenerator<Domain[]> {
  let next: Cursor | undefined
  do {
    const { rows, older } = await list(visit, { search }, next)
    yield rows
    next = older
  } while (next !== undefined)
}

/** Returns the filter of the stored domains, and these, if it had to read them; nothing, if no name can pass it. */
export async function filterOf(
  visit: Visit,
  { qname, search = '' }: DomainFilter,
): Promise<{ filter?: store.Filter; rows?: Domain[] }> {
  const text = searchedText(search)
  if (text === undefined) return {}
  if (qname === undefined) return { filter: text === '' ? {} : { search: text } }
  const isTooLong = qname.replace(/^\*\./, '').length > NAME_LENGTH
  const [domain] = isTooLong ? [] : await enclosing(visit, [qname])
  const rows = domain?.name.includes(text) === true ? [domain] : []
  return { filter: { ids: rows.map(({ id }) => id) }, rows }
}

/** Counts the actor's domains whose names contain a text. */
export async function count({ system, actor }: Visit, search = ''): Promise<number> {
  const text = searchedText(search)
  if (text !== '') return text === undefined ? 0 : store.count(system.db, actor, { search: text })
  if (store.isConfined(actor)) return store.count(system.db, actor)
  return (await accounts.get(system.db, actor.accountId))?.domains ?? 0
}

/**
 * Finds, for each name, the longest of the actor's domains that contains it; undefined if no domain does, or the name
 * is not valid. Names may begin with `*.`; case does not matter.
 */
export async function enclosing({ system, actor }: Visit, names: string[]): Promise<(Domain | undefined)[]> {
  const candidates = names.map(enclosingNames)
  const found = await store.named(system.db, actor, [...new Set(candidates.flat())])
  const domains = new Map(found.map((domain) => [domain.name, domain]))
  return candidates.map((longestFirst) => longestFirst.flatMap((name) => domains.get(name) ?? [])[0])
}

/** Returns the possible names of domains that contain a name, longest first. */
function enclosingNames(name: string): string[] {
  const plain = lowerCase(name.replace(/^\*\./, ''))
  // One character more than a domain's name may have: a candidate that begins with a cut label is too long to exist.
  return isDomainName(plain) ? withAncestors(plain.slice(-DOMAIN_NAME_LENGTH - 1)) : []
}

/**
 * Deletes a domain and its zone, if the actor may see it (contract §7.4). If no such domain exists, also deletes the
 * zone that a failed creation left.
 * @throws Unauthenticated, Denied, PreconditionFailed, Unavailable, NameserverFailure
 */
export async function remove(visit: Visit<Writer>, name: string, conditions: Conditions): Promise<void> {
  const { system } = visit
  const domain = await get(visit, name).catch(unlessNotFound)
  await using zone =
    domain && (await openZone({ ...visit, domain }, [], { use: 'domainDeletion' }).catch(unlessNotFound))
  if (zone === undefined) {
    checkConditions(conditions, undefined)
    if (domain === undefined && isDomainName(name)) await clearLeftovers(system, name)
    await confirmPrimary(system.db)
    return
  }
  await authoriseWhole(zone.publication.trx, zone.domain, zone.policies)
  checkConditions(conditions, tagOfDomain(zone.domain))
  // The delegation first, so that it never points to a deleted zone.
  await withdraw(zone.publication, name)
  await zone.remove()
  scanForMembers(system, zone.publication.trx)
  await zone.publication.commit()
}

/**
 * Sets the note of a domain for whoever may write the whole domain (contract §7.11).
 * @param note empty: none; undefined: it stays
 * @throws NotFound, Unauthenticated, Denied, Conflict, PreconditionFailed, Unavailable
 */
export async function setNote(
  access: Access<Writer>,
  note: string | undefined,
  conditions: Conditions,
): Promise<Domain> {
  await using zone = await openZone(access, [], { use: 'settings' })
  const { domain, publication, policies } = zone
  const { system, trx } = publication
  const { accountId, tokenId } = access.actor
  await authoriseWhole(trx, domain, policies)
  checkConditions(conditions, tagOfDomain(domain))
  const wanted = note === undefined ? domain.note : note || null
  if (wanted === domain.note) return domain
  await store.setNote(trx, domain.id, wanted)
  // Not what it says: it is for who sees the domain now.
  record(system, trx, 'note_changed', { account: accountId, domain: domain.name, by: tokenId })
  await publication.commit()
  return { ...domain, note: wanted }
}

/**
 * @throws Denied unless a token with these policies may write every RRset of the domain, and apex NS even if it does not
 *   exist (contract §6.5)
 */
export async function authoriseWhole(db: Db, domain: Domain, policies: Policy[]): Promise<void> {
  if (policies.length === 0) return
  if (policies.some((policy) => policy.domainId === domain.id && !policy.permWrite)) throw new Denied()
  const keys = [{ subname: '', type: 'NS' }, ...(await rrsets.list(db, domain.id))]
  await mapInSlices(keys, (key) => {
    if (!mayWrite(policies, domain.id, key)) throw new Denied()
  })
}

/**
 * Returns all domains, or those of one account, whose names contain a text as in `list`, sorted by name; for the operator
 * (contract §15.2).
 */
export async function listAll(system: System, accountId?: string, search = ''): Promise<OwnedDomain[]> {
  const text = searchedText(search)
  return text === undefined ? [] : store.all(system.db, accountId ?? null, text)
}

/** Sets the minimum TTL of future writes to a domain; existing TTLs stay (contract §15.2). @throws NotFound */
export async function setMinimumTtl(system: System, name: string, seconds: number): Promise<void> {
  if (!(await interventions.setMinimumTtl(system.db, name, seconds))) throw noDomain(name)
}

/**
 * Sets the kind of denial of a domain's zone, and publishes the whole zone.
 * @throws NotFound, Unavailable, NameserverFailure; Conflict if the domain is paused, or if its names forbid this denial
 */
export async function setDenial(system: System, name: string, kind: keyof typeof DENIALS): Promise<void> {
  await using publication = await openPublication(system, 'operator', { queues: [`zone ${name}`] })
  const zone = await lockZone(publication, name, [])
  if (zone === undefined) throw noDomain(name)
  const denial = DENIALS[kind]
  if (zone.domain.denial === denial) return
  refuseLabels(system, zone.domain, denial, await rrsets.list(publication.trx, zone.domain.id))
  await store.setDenial(publication.trx, zone.domain.id, denial)
  zone.domain.denial = denial
  await zone.publishAgain()
  await publication.commit()
}

/** @throws Conflict if a name could do damage with this denial: somebody may have chosen it for that */
function refuseLabels({ nameserver }: System, { name }: Domain, denial: Denial, present: RRset[]): void {
  const labels = new Set(present.map(({ subname }) => topLabel(subname)))
  const found = [...labels].filter((label) => nameserver.labelProblem(label, denial) !== undefined).sort()
  if (found.length === 0) return
  const shown = [...found.slice(0, LABELS_SHOWN), ...(found.length > LABELS_SHOWN ? ['…'] : [])]
  throw new Conflict(`${name}: ${nameserver.labelProblem(found[0]!, denial)} There are: ${shown.join(', ')}`)
}

/** Returns a domain that the operator names. @throws NotFound */
export async function findNamed(system: System, name: string): Promise<Domain> {
  const domain = await find(system, name)
  if (domain === undefined) throw noDomain(name)
  return domain
}

/** Locks a domain that the operator names, until the transaction ends. @throws NotFound, Unavailable */
export async function lockNamed(trx: Db, name: string): Promise<LockedDomain> {
  const domain = await store.lock(trx, name)
  if (domain === undefined) throw noDomain(name)
  return domain
}

function noDomain(name: string): NotFound {
  return new NotFound(`There is no domain ${name}.`)
}
