import type { Config } from '../../config.ts'
import { isDomainName, lowerCase, withAncestors } from '../../dns/names.ts'
import { Denied, Invalid, NameserverFailure, NotFound, unlessNotFound, type Problems } from '../../errors.ts'
import { APEX_NS_TTL, DOMAIN_NAME_LENGTH } from '../../limits.ts'
import * as accounts from '../../store/accounts.ts'
import { together, type Db } from '../../store/database.ts'
import * as store from '../../store/domains.ts'
import type { Domain, OwnedDomain, Viewer } from '../../store/domains.ts'
import * as tokenPolicies from '../../store/policies.ts'
import * as rrsets from '../../store/rrsets.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../tokens/actor.ts'
import { authenticate } from '../tokens/authentication.ts'
import { NIL_UUID } from '../tokens/ids.ts'
import * as availability from './availability.ts'
import { keysOf, type Key } from './keys.ts'
import type { Cursor, Page } from '../pagination.ts'
import { delegate, withdraw } from './delegations.ts'
import { mayWrite, policiesOn } from '../tokens/policies.ts'
import { nextVersion, openPublication, type Publication } from '../zone/publication.ts'
import { orRefused, readImport } from './zonefiles.ts'
import { openZone, Zone } from '../zone/zone.ts'

export type { Domain, Key, OwnedDomain }

export type DomainWithKeys = Domain & { keys: Key[] }

/** What a request says about a new domain: its name, what is to be in it, and what is wrong with the members' shape. */
export interface DomainInput {
  name?: string
  zonefile?: string
  problems: Problems
}

/** The domain, if it exists for the actor. @throws NotFound */
export async function get(system: System, actor: Actor, name: string): Promise<Domain> {
  const domain = isDomainName(name) ? await store.find(system.db, name, actor) : undefined
  if (domain === undefined) throw new NotFound()
  return domain
}

/**
 * As `authenticate`, and the domain of this name, if it exists for the actor. Both are looked up at once; what is wrong
 * with the token is told first.
 */
export async function authenticateAndLookUp(
  system: System,
  secret: string,
  address: string,
  name: string,
): Promise<{ actor: Actor; domain: Domain | undefined }> {
  const [actor, domain] = await together(system.db, (db) =>
    Promise.allSettled([
      authenticate(system, secret, address, db),
      isDomainName(name) ? store.find(db, name) : undefined,
    ]),
  )
  if (actor.status === 'rejected') throw actor.reason
  if (domain.status === 'rejected') throw domain.reason
  const own = domain.value?.ownerId === actor.value.accountId ? domain.value : undefined
  // What a confined actor sees could not be asked before the actor was known.
  const seen = own && store.isConfined(actor.value) ? await store.find(system.db, name, actor.value) : own
  return { actor: actor.value, domain: seen }
}

export async function withKeys(system: System, domain: Domain): Promise<DomainWithKeys> {
  return { ...domain, keys: await keysOf(system, domain) }
}

/** A page of the actor's domains, newest first; with `qname` only the one that this name lies in (contract §7.5). */
export async function list(
  system: System,
  actor: Actor,
  { qname, cursor }: { qname?: string | undefined; cursor?: Cursor | undefined },
): Promise<Page<Domain>> {
  if (qname === undefined) return store.page(system.db, actor, cursor)
  const found = await owning(system, actor, qname)
  if (cursor === undefined) return { rows: found, newer: undefined, older: undefined }
  const ids = found.map(({ id }) => id)
  return store.page(system.db, actor, cursor, ids)
}

/** How many domains there are for the actor. */
export async function count(system: System, actor: Actor): Promise<number> {
  return store.isConfined(actor) ? store.count(system.db, actor) : accounts.countDomains(system.db, actor.accountId)
}

/** The actor's domain that a name lies in, as an array of one; or of none. */
async function owning(system: System, actor: Actor, qname: string): Promise<Domain[]> {
  if (qname.replace(/^\*\./, '').length > DOMAIN_NAME_LENGTH) return []
  const [domain] = await enclosing(system, actor, [qname])
  return domain === undefined ? [] : [domain]
}

/**
 * For each name, the longest of the actor's domains that it lies in; undefined if there is none, or it is no name. Names
 * are in any case and may begin with `*.`.
 */
export async function enclosing(system: System, actor: Actor, names: string[]): Promise<(Domain | undefined)[]> {
  const candidates = names.map(enclosingNames)
  const found = await store.named(system.db, actor, [...new Set(candidates.flat())])
  const domains = new Map(found.map((domain) => [domain.name, domain]))
  return candidates.map((longestFirst) => longestFirst.flatMap((name) => domains.get(name) ?? [])[0])
}

/** The names that a domain may have in which a name lies, the longest first. */
function enclosingNames(name: string): string[] {
  const plain = lowerCase(name.replace(/^\*\./, ''))
  // What is cut off of a name is more than a domain's name may have, so the rest, if it is too long, is none either.
  return isDomainName(plain) ? withAncestors(plain.slice(-DOMAIN_NAME_LENGTH - 1)) : []
}

/** @throws Denied if the account has as many domains as it may have */
export async function refuseBeyondQuota(system: System, actor: Actor): Promise<void> {
  if (!(await accounts.hasRoom(system.db, actor.accountId))) throw quotaReached()
}

function quotaReached(): Denied {
  return new Denied('Domain limit exceeded. Please contact support to create additional domains.')
}

/**
 * Creates a domain with its apex NS RRset and what it imports, and its signed zone; all or nothing (contract §7.4).
 * @throws Denied, Invalid, Unavailable, NameserverFailure
 */
export async function create(system: System, actor: Actor, input: DomainInput): Promise<DomainWithKeys> {
  await using publication = await openPublication(system, `account ${actor.accountId}`)
  const created = await add(publication, actor, input)
  await publication.commit()
  return created
}

/**
 * Like `create`, inside the caller's publication.
 * @param creator gets the domain; its policies limit what is imported
 */
export async function add(
  publication: Publication,
  creator: Pick<Actor, 'tokenId' | 'accountId' | 'restricted' | 'autoPolicy'>,
  input: DomainInput,
): Promise<DomainWithKeys> {
  const { system, trx } = publication
  const { accountId } = creator
  await accounts.lockQuota(trx, accountId)
  // Looked at again, under the lock: domains created at once are counted one after the other.
  if (!(await accounts.hasRoom(trx, accountId))) throw quotaReached()
  const name = await availableName(system, trx, accountId, input)
  const past = await store.past(trx, name)
  // A zone that is there without a mark was made by somebody else. To be known before a mark of ours says otherwise.
  if (!past.marked && (await system.nameserver.serial(`${name}.`)) !== undefined) throw disallowed()
  const now = system.now()
  const version = nextVersion(system, past.version)
  const row = { name, ownerId: accountId, minimumTtl: system.config.minimumTtl, version, now }
  const domain = await store.insert(trx, row)
  if (creator.autoPolicy) await tokenPolicies.allowDomain(trx, creator.tokenId, domain.id, now)
  const policies = await policiesOn(trx, creator, domain.id)
  const imported = await readImport(system, domain, input.zonefile ?? '', policies)
  const apexNs = { subname: '', type: 'NS', ttl: APEX_NS_TTL, records: system.config.nameServers }
  const keys = await new Zone(publication, domain, {}).create([apexNs, ...imported]).catch((error: unknown) => {
    throw imported.length > 0 ? orRefused(orDisallowed(error)) : orDisallowed(error)
  })
  await delegate(publication, name, keys)
  return { ...domain, keys: keys.map((key) => ({ ...key, managed: true })) }
}

/** The nameserver has the zone, which it had not when it was looked at: somebody else made it meanwhile. */
function orDisallowed(error: unknown): unknown {
  return error instanceof NameserverFailure && error.kind === 'conflict' ? disallowed() : error
}

/** The name of a new domain, free for this account (contract §7.3); it stays so until the transaction ends. */
async function availableName(
  { config }: System,
  trx: Db,
  accountId: string,
  { name, problems }: DomainInput,
): Promise<string> {
  if (name === undefined) throw new Invalid({ name: ['This field is required.'], ...problems })
  const texts = availability.nameProblems(name)
  if (texts.length > 0) throw new Invalid({ name: texts, ...problems })
  await store.lockCreation(trx, availability.registrable(name))
  if ((await store.find(trx, name)) !== undefined) throw new Invalid({ name: [EXISTS], ...problems })
  if (Object.keys(problems).length > 0) throw new Invalid(problems)
  if (!(await isFree(config, trx, accountId, name))) throw disallowed()
  return name
}

const EXISTS = 'domain with this name already exists.'
const DISALLOWED = 'This domain name conflicts with an existing domain, or is disallowed by policy.'

function disallowed(): Invalid {
  return Invalid.field('name', DISALLOWED)
}

/** Whether policy, and the domains of other accounts, allow the name. */
async function isFree(config: Config, db: Db, accountId: string, name: string): Promise<boolean> {
  const suffixes = config.localPublicSuffixes
  const ancestors = availability.registrableAncestors(name, suffixes).slice(1)
  return availability.isAllowed(name, suffixes) && !(await store.conflicts(db, accountId, name, ancestors))
}

/** What speaks against a name, whose syntax is right, as a domain of somebody who has none yet; it may change. */
export async function newcomerProblems(system: System, name: string): Promise<string[]> {
  if ((await store.find(system.db, name)) !== undefined) return [EXISTS]
  return (await isFree(system.config, system.db, NIL_UUID, name)) ? [] : [DISALLOWED]
}

/** Deletes a domain and its zone, if it exists for the actor (contract §7.4). @throws Denied */
export async function remove(system: System, actor: Viewer, name: string): Promise<void> {
  const domain = isDomainName(name) ? await store.find(system.db, name, actor) : undefined
  if (domain === undefined) return
  await using zone = await openZone(system, actor, domain, []).catch(unlessNotFound)
  if (zone === undefined) return
  if (!(await mayWriteAll(zone))) throw new Denied()
  // First, so that resolvers are not sent to a zone that is gone.
  await withdraw(zone.publication, name)
  await zone.remove()
  await zone.publication.commit()
}

/** Whether the actor may write everything in the domain, its apex NS RRset in any case (contract §6.5). */
async function mayWriteAll({ publication, domain, policies }: Zone): Promise<boolean> {
  if (policies.length === 0) return true
  if (policies.some((policy) => policy.domainId === domain.id && !policy.permWrite)) return false
  const places = [{ subname: '', type: 'NS' }, ...(await rrsets.list(publication.trx, domain.id))]
  return places.every((place) => mayWrite(policies, domain.id, place))
}

/** All domains, or those of one account, by name; for the operator (contract §15.2). */
export async function listAll(system: System, accountId?: string): Promise<OwnedDomain[]> {
  return store.all(system.db, accountId ?? null)
}

/** Sets what TTLs in a domain may be from now on; those that are there stay (contract §15.2). @throws NotFound */
export async function setMinimumTtl(system: System, name: string, seconds: number): Promise<void> {
  if (!(await store.setMinimumTtl(system.db, name, seconds))) throw new NotFound(`There is no domain ${name}.`)
}
