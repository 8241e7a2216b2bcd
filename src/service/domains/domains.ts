import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../config.ts'
import { isDomainName, lowerCase, withAncestors } from '../../dns/names.ts'
import { Denied, found, Invalid, NameserverFailure, NotFound, unlessNotFound, type Problems } from '../../errors.ts'
import { DENIALS } from '../../nameserver/nameserver.ts'
import { APEX_NS_TTL, DOMAIN_NAME_LENGTH, NAME_LENGTH } from '../../limits.ts'
import * as accounts from '../../store/accounts.ts'
import { allOf, confirmPrimary, sendAlong, type Db } from '../../store/database.ts'
import * as store from '../../store/domains.ts'
import type { Domain, LockedDomain, OwnedDomain, Past, Viewer } from '../../store/domains.ts'
import * as tokenPolicies from '../../store/policies.ts'
import { exhume } from '../../store/history.ts'
import * as rrsets from '../../store/rrsets.ts'
import type { RRsetState } from '../../store/rrsets.ts'
import type { Policy } from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import { after, type Timestamp } from '../../time.ts'
import { isOperator, type Actor, type Writer } from '../tokens/actor.ts'
import { NIL_UUID } from '../tokens/ids.ts'
import * as availability from './availability.ts'
import { keysOf, managed, type Key } from './keys.ts'
import type { Cursor, Page } from '../pagination.ts'
import { delegate, delegationProblems, withdraw } from './delegations.ts'
import { authoriseWrites, mayWrite, policiesOn } from '../tokens/policies.ts'
import { deletedDomain, type Deleted } from './history.ts'
import { renew } from '../tokens/rights.ts'
import { checkConditions, tagOfDomain, type Conditions } from '../zone/conditions.ts'
import { authorOf, type Source } from '../zone/history.ts'
import { nextVersion, openPublication, type Publication } from '../zone/publication.ts'
import { clearLeftovers } from './reconcile.ts'
import * as zonefiles from './zonefiles.ts'
import type { ZoneFile } from './zonefiles.ts'
import { lockZone, openZone } from '../zone/opening.ts'
import { Zone } from '../zone/zone.ts'

export { DENIALS }
export type { Domain, Key, OwnedDomain }

export type DomainWithKeys = Domain & { keys: Key[] }

/** The name of a new domain in a request, and the problems of all members' JSON types. */
export interface NameInput {
  name?: string
  problems: Problems
  /** The account had a domain of this name, which shall come back: as it was when it was deleted, or at this time. */
  restore?: boolean
  at?: Timestamp
}

/** A request for a new domain, with the zone file to import. */
export interface DomainInput extends NameInput {
  zonefile?: string
}

/** The domain of this name, if the actor may see it. @throws NotFound */
export async function get(system: System, actor: Viewer, name: string): Promise<Domain> {
  return found(isDomainName(name) ? await store.find(system.db, name, actor) : undefined)
}

/** The domain of this name, whoever may see it. */
export async function find(system: System, name: string): Promise<Domain | undefined> {
  return isDomainName(name) ? store.find(system.db, name) : undefined
}

/** The domain, if there is one and the actor may see it. @throws NotFound */
export async function visible(system: System, actor: Viewer, domain: Domain | undefined): Promise<Domain> {
  if (domain?.ownerId !== actor.accountId) throw new NotFound()
  // What a confined actor may see depends on its policies.
  return store.isConfined(actor) ? get(system, actor, domain.name) : domain
}

export async function withKeys(system: System, domain: Domain): Promise<DomainWithKeys> {
  return { ...domain, keys: await keysOf(system, domain) }
}

/** A page of the actor's domains, newest first; with `qname` only the one that contains this name (contract §7.5). */
export async function list(
  system: System,
  actor: Actor,
  { qname, cursor }: { qname?: string | undefined; cursor?: Cursor | undefined },
): Promise<Page<Domain>> {
  if (qname === undefined) return store.page(system.db, actor, cursor)
  const isTooLong = qname.replace(/^\*\./, '').length > NAME_LENGTH
  const [domain] = isTooLong ? [] : await enclosing(system, actor, [qname])
  const rows = domain === undefined ? [] : [domain]
  if (cursor === undefined) return { rows, newer: undefined, older: undefined }
  const ids = rows.map(({ id }) => id)
  return store.page(system.db, actor, cursor, ids)
}

/** How many domains the actor may see. */
export async function count(system: System, actor: Actor): Promise<number> {
  return store.isConfined(actor) ? store.count(system.db, actor) : accounts.countDomains(system.db, actor.accountId)
}

/**
 * For each name, the longest of the actor's domains that contains it; undefined if no domain does, or the name is not
 * valid. Names may begin with `*.`; case does not matter.
 */
export async function enclosing(system: System, actor: Actor, names: string[]): Promise<(Domain | undefined)[]> {
  const candidates = names.map(enclosingNames)
  const found = await store.named(system.db, actor, [...new Set(candidates.flat())])
  const domains = new Map(found.map((domain) => [domain.name, domain]))
  return candidates.map((longestFirst) => longestFirst.flatMap((name) => domains.get(name) ?? [])[0])
}

/** The possible names of domains that contain a name, longest first. */
function enclosingNames(name: string): string[] {
  const plain = lowerCase(name.replace(/^\*\./, ''))
  // One character more than a domain's name may have: a candidate that begins with a cut label is too long to exist.
  return isDomainName(plain) ? withAncestors(plain.slice(-DOMAIN_NAME_LENGTH - 1)) : []
}

/** @throws Denied if the account has reached its limit of domains */
export async function refuseBeyondQuota({ db }: { db: Db }, { accountId }: Pick<Actor, 'accountId'>): Promise<void> {
  if (await accounts.hasRoom(db, accountId)) return
  throw new Denied('Domain limit exceeded. Please contact support to create additional domains.')
}

/** Refuses like `refuseBeyondQuota`, and counts simultaneous requests of the account one after the other. */
async function takeRoom(trx: Db, accountId: string): Promise<void> {
  await allOf([accounts.lockQuota(trx, accountId), refuseBeyondQuota({ db: trx }, { accountId })])
}

/**
 * Creates a domain with its apex NS RRset, the imported RRsets and its signed zone; all or nothing (contract §7.4).
 * @throws Unauthenticated, Denied, Invalid, Unavailable, NameserverFailure
 */
export async function create(system: System, actor: Writer, input: DomainInput): Promise<DomainWithKeys> {
  return system.queues.run(`account ${actor.accountId}`, async () => {
    if (input.restore === true && input.zonefile) throw Invalid.field('zonefile', 'Cannot be combined with restore.')
    // Read before the transaction, so that nobody else waits for it. Its errors come after those of the name.
    const zonefile = await readFor(input)
    await using publication = await openPublication(system, actor.accountId)
    const created = await add(publication, actor, input, zonefile)
    await publication.commit()
    return created
  })
}

/** The zone file in a request for a domain; that of a name that nobody can have is not read. */
async function readFor({ name, zonefile = '' }: DomainInput): Promise<ZoneFile> {
  return name === undefined || availability.nameProblems(name).length > 0 ? [] : zonefiles.read(zonefile, name)
}

/**
 * Like `create`, inside the caller's publication.
 * @param writer owns the domain; the policies of its token apply to the import
 */
export async function add(
  publication: Publication,
  writer: Writer,
  input: NameInput,
  zonefile: ZoneFile = [],
): Promise<DomainWithKeys> {
  const { system, trx } = publication
  const { accountId } = writer
  // Sent together. The statements after a lock see the state at the time when the lock is granted.
  const [creator, , { name, past }] = await allOf([
    renew(system, trx, writer, 'domainCreation'),
    takeRoom(trx, accountId),
    availableName(system, trx, writer, input),
  ])
  // The domain is stored meanwhile.
  const checked = past.marked ? undefined : sendAlong(requireAbsent(system, name))
  const old = input.restore === true ? await deletedDomain(trx, name, accountId, input.at) : undefined
  const now = old === undefined ? system.now() : after(old.deleted, system.now())
  const version = nextVersion(system, past.sent + 1)
  const row = {
    minimumTtl: system.config.minimumTtl,
    denial: DENIALS[system.config.denial],
    ...old,
    name,
    ownerId: accountId,
    version,
    now,
  }
  const isMember = system.config.catalogZone !== undefined
  const domain = await store.insert(trx, { ...row, isMember })
  if (old !== undefined) await exhume(trx, old.id)
  if (creator.autoPolicy) await tokenPolicies.allowDomain(trx, creator.tokenId, domain.id, now)
  const zone = new Zone(publication, domain, authorOf(creator, sourceOf(input, zonefile)), {
    policies: await policiesOn(trx, creator, domain.id),
  })
  const written = await firstRRsets(zone, zonefile, old)
  const keys = await zone.create(written, checked).catch((error: unknown) => {
    // Somebody else has created the zone since PowerDNS was asked.
    if (error instanceof NameserverFailure && error.kind === 'conflict') throw disallowed()
    throw written.length > 1 ? zonefiles.orRefused(error) : error
  })
  await delegate(publication, name, keys)
  return { ...domain, keys: keys.map(managed) }
}

function sourceOf({ restore }: NameInput, zonefile: ZoneFile): Source {
  if (restore === true) return 'restore'
  return Array.isArray(zonefile) && zonefile.length > 0 ? 'import' : 'creation'
}

/** The RRsets of a new domain, or of one that comes back. @throws Denied, Invalid */
async function firstRRsets(zone: Zone, zonefile: ZoneFile, old: Deleted | undefined): Promise<RRsetState[]> {
  const { nameServers } = zone.publication.system.config
  const apexNs = { subname: '', type: 'NS', ttl: APEX_NS_TTL, records: nameServers }
  if (old === undefined) return [apexNs, ...(await zonefiles.toImport(zone, zonefile))]
  // Every new domain has these, whatever the policies.
  const others = old.rrsets.filter((rrset) => !isDeepStrictEqual(rrset, apexNs))
  authoriseWrites(zone.policies, zone.domain.id, others)
  return old.rrsets
}

/**
 * The name of a new domain, available to this account until the transaction ends (contract §7.3), and what was sent for its
 * zone in the past.
 */
async function availableName(
  system: System,
  trx: Db,
  writer: Writer,
  { name, problems }: NameInput,
): Promise<{ name: string; past: Past }> {
  if (name === undefined) throw new Invalid({ name: ['This field is required.'], ...problems })
  const texts = [...availability.nameProblems(name), ...delegationProblems(system, name)]
  if (texts.length > 0) throw new Invalid({ name: texts, ...problems })
  const [, present, isFreeNow, past] = await Promise.all([
    store.lockCreation(trx, availability.registrable(name)),
    store.find(trx, name),
    isFree(system.config, trx, writer.accountId, name),
    store.past(trx, name),
  ])
  if (present !== undefined) throw new Invalid({ name: [EXISTS], ...problems })
  if (Object.keys(problems).length > 0) throw new Invalid(problems)
  // Only the operator creates names that are reserved.
  if (!isFreeNow || (!isOperator(writer) && availability.isReserved(name, system.config))) throw disallowed()
  return { name, past }
}

/** @throws Invalid if the nameserver has the zone: without a mark, somebody else has made it */
async function requireAbsent(system: System, name: string): Promise<void> {
  if ((await system.nameserver.serial(`${name}.`)) !== undefined) throw disallowed()
}

const EXISTS = 'domain with this name already exists.'
const DISALLOWED = 'This domain name conflicts with an existing domain, or is disallowed by policy.'

function disallowed(): Invalid {
  return Invalid.field('name', DISALLOWED)
}

/** Whether policy and the domains of other accounts allow the name. */
async function isFree(config: Config, db: Db, accountId: string, name: string): Promise<boolean> {
  const suffixes = config.localPublicSuffixes
  const ancestors = availability.registrableAncestors(name, suffixes).slice(1)
  return availability.isAllowed(name, suffixes) && !(await store.conflicts(db, accountId, name, ancestors))
}

/** The problems of a name of valid syntax, as a domain of a new account. They may change at any time. */
export async function newcomerProblems(system: System, name: string): Promise<string[]> {
  const problems = delegationProblems(system, name)
  if (problems.length > 0) return problems
  if ((await store.find(system.db, name)) !== undefined) return [EXISTS]
  if (availability.isReserved(name, system.config)) return [DISALLOWED]
  return (await isFree(system.config, system.db, NIL_UUID, name)) ? [] : [DISALLOWED]
}

/**
 * Deletes a domain and its zone, if the actor may see it (contract §7.4). If there is no such domain, a zone that a failed
 * creation left is deleted, too.
 * @throws Unauthenticated, Denied, PreconditionFailed, Unavailable, NameserverFailure
 */
export async function remove(system: System, actor: Writer, name: string, conditions: Conditions): Promise<void> {
  const domain = await get(system, actor, name).catch(unlessNotFound)
  await using zone =
    domain && (await openZone({ system, actor, domain }, [], { use: 'domainDeletion' }).catch(unlessNotFound))
  if (zone === undefined) {
    checkConditions(conditions, undefined)
    if (domain === undefined && isDomainName(name)) await clearLeftovers(system, name)
    await confirmPrimary(system.db)
    return
  }
  if (!(await mayWriteAll(zone.publication.trx, zone.domain, zone.policies))) throw new Denied()
  checkConditions(conditions, tagOfDomain(zone.domain))
  // The delegation first, so that it never points to a deleted zone.
  await withdraw(zone.publication, name)
  await zone.remove()
  await zone.publication.commit()
}

/**
 * Whether a token with these policies may write every RRset of the domain, and apex NS even if it does not exist
 * (contract §6.5).
 */
export async function mayWriteAll(db: Db, domain: Domain, policies: Policy[]): Promise<boolean> {
  if (policies.length === 0) return true
  if (policies.some((policy) => policy.domainId === domain.id && !policy.permWrite)) return false
  const keys = [{ subname: '', type: 'NS' }, ...(await rrsets.list(db, domain.id))]
  return keys.every((key) => mayWrite(policies, domain.id, key))
}

/** All domains, or those of one account, sorted by name; for the operator (contract §15.2). */
export async function listAll(system: System, accountId?: string): Promise<OwnedDomain[]> {
  return store.all(system.db, accountId ?? null)
}

/** Sets the minimum TTL of future writes to a domain; existing TTLs stay (contract §15.2). @throws NotFound */
export async function setMinimumTtl(system: System, name: string, seconds: number): Promise<void> {
  if (!(await store.setMinimumTtl(system.db, name, seconds))) throw noDomain(name)
}

/**
 * Sets how the zone of a domain denies what does not exist, and publishes all of it.
 * @throws NotFound, Unavailable, NameserverFailure; Conflict if the domain is paused
 */
export async function setDenial(system: System, name: string, kind: keyof typeof DENIALS): Promise<void> {
  await using publication = await openPublication(system, 'operator', { queue: `zone ${name}` })
  const zone = await lockZone(publication, name, [])
  if (zone === undefined) throw noDomain(name)
  const denial = DENIALS[kind]
  if (zone.domain.denial === denial) return
  await store.setDenial(publication.trx, zone.domain.id, denial)
  zone.domain.denial = denial
  await zone.publishAgain()
  await publication.commit()
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
