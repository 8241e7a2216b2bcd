import type { Config } from '../../config.ts'
import { isDomainName, lowerCase, withAncestors } from '../../dns/names.ts'
import { Denied, Invalid, NameserverFailure, NotFound, type Problems } from '../../errors.ts'
import { APEX_NS_TTL, DOMAIN_NAME_LENGTH } from '../../limits.ts'
import * as accounts from '../../store/accounts.ts'
import { together, type Db } from '../../store/database.ts'
import * as store from '../../store/domains.ts'
import type { Domain, OwnedDomain } from '../../store/domains.ts'
import * as tokenPolicies from '../../store/policies.ts'
import * as rrsets from '../../store/rrsets.ts'
import { lazily } from '../../slices.ts'
import type { Policy } from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import { unixTime } from '../../time.ts'
import type { Actor } from '../tokens/actor.ts'
import { authenticate } from '../tokens/authentication.ts'
import * as availability from './availability.ts'
import { keysOf, managedKeys, type Key } from './keys.ts'
import type { Cursor, Page } from '../pagination.ts'
import { delegate, withdraw } from './delegations.ts'
import { authoriseWrites, mayWrite, sees, visibleDomains, type Viewer } from '../tokens/policies.ts'
import { clearAway, nextVersion, note, publishing, type UnderMark } from '../zone/publication.ts'
import { orRefused, readImport } from './zonefiles.ts'
import { published } from '../zone/zones.ts'

export type { Domain, Key, OwnedDomain }

export type DomainWithKeys = Domain & { keys: Key[] }

/** What a request says about a new domain: its name, what is to be in it, and what is wrong with the members' shape. */
export interface DomainInput {
  name?: string
  zonefile?: string
  problems: Problems
}

/** The account that a domain is created for, what limits imports, and the token that is to write it by its auto policy. */
type Creator = { accountId: string; policies?: Policy[] } & (
  { autoPolicy: false } | { autoPolicy: true; tokenId: string }
)

/** The domain of this name, whoever has it; to be followed by `visible`. */
export async function lookUp(system: System, name: string, db: Db = system.db): Promise<Domain | undefined> {
  return isDomainName(name) ? store.find(db, name) : undefined
}

/** The domain, if it exists for the actor. @throws NotFound */
export function visible(actor: Actor, domain: Domain | undefined): Domain {
  if (domain === undefined || !sees(actor, domain)) throw new NotFound()
  return domain
}

/**
 * As `authenticate`, and the domain of this name, whoever has it; to be followed by `visible`. Both are looked up at
 * once; what is wrong with the token is told first.
 */
export async function authenticateAndLookUp(
  system: System,
  secret: string,
  address: string,
  name: string,
): Promise<{ actor: Actor; domain: Domain | undefined }> {
  const [actor, domain] = await together(system.db, (db) =>
    Promise.allSettled([authenticate(system, secret, address, db), lookUp(system, name, db)]),
  )
  if (actor.status === 'rejected') throw actor.reason
  if (domain.status === 'rejected') throw domain.reason
  return { actor: actor.value, domain: domain.value }
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
  if (qname === undefined) return store.page(system.db, actor.accountId, visibleDomains(actor), cursor)
  const found = await owning(system, actor, qname)
  if (cursor === undefined) return { rows: found, newer: undefined, older: undefined }
  const ids = found.map(({ id }) => id)
  return store.page(system.db, actor.accountId, ids, cursor)
}

/** How many domains there are for the actor. */
export async function count(system: System, actor: Actor): Promise<number> {
  const ids = visibleDomains(actor)
  return ids === undefined
    ? accounts.countDomains(system.db, actor.accountId)
    : store.count(system.db, actor.accountId, ids)
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
  const found = await store.named(system.db, actor.accountId, [...new Set(candidates.flat())], visibleDomains(actor))
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
  return system.queues.run(`account ${actor.accountId}`, () =>
    publishing(system, (trx, underMark) => add(system, trx, underMark, actor, input)),
  )
}

/** As `create`, in a transaction that does more. */
export async function add(
  system: System,
  trx: Db,
  underMark: UnderMark,
  { accountId, policies = [], ...creator }: Creator,
  input: DomainInput,
): Promise<DomainWithKeys> {
  await accounts.lockQuota(trx, accountId)
  // Looked at again, under the lock: domains created at once are counted one after the other.
  if (!(await accounts.hasRoom(trx, accountId))) throw quotaReached()
  const name = await availableName(system, trx, accountId, input)
  const now = system.now()
  const past = await store.past(trx, name)
  // A zone that is there without a mark was made by somebody else. To be known before a mark of ours says otherwise.
  if (!past.marked && (await system.nameserver.serial(`${name}.`)) !== undefined) throw disallowed()
  const version = nextVersion(system, past.version)
  const apexNs = { subname: '', type: 'NS', ttl: APEX_NS_TTL, records: system.config.nameServers }
  const row = { name, ownerId: accountId, minimumTtl: system.config.minimumTtl, version, now }
  const domain = await store.insert(trx, row)
  if (creator.autoPolicy) await tokenPolicies.allowDomain(trx, creator.tokenId, domain.id, now)
  const allowed = { domainId: domain.id, subname: null, type: null, permWrite: true }
  const imported = await readImport(system, domain, input.zonefile ?? '', (places) => {
    authoriseWrites({ policies: creator.autoPolicy ? [...policies, allowed] : policies }, domain.id, places)
  })
  const written = [apexNs, ...imported]
  const size = written.length
  await rrsets.apply(trx, domain.id, { removed: [], written, growth: size, version, rectify: true, now })
  const created = await underMark({ zone: name, version, rrsets: size }, async (attempt) => {
    if (attempt.isDoubtful) {
      if (!(await clearAway(system, attempt.mark))) throw disallowed()
      await note(system, attempt.mark, version, size)
    }
    const toPublish = lazily(written, (rrset) => published(domain, rrset))
    await system.nameserver.createZone(`${name}.`, version, toPublish)
    attempt.begun = true
    return { ...domain, keys: await managedKeys(system, domain) }
  }).catch((error: unknown) => {
    throw imported.length > 0 ? orRefused(orDisallowed(error)) : orDisallowed(error)
  })
  await delegate(system, trx, underMark, created)
  return created
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

/** The id of no account. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** What speaks against a name, whose syntax is right, as a domain of somebody who has none yet; it may change. */
export async function newcomerProblems(system: System, name: string): Promise<string[]> {
  if ((await store.find(system.db, name)) !== undefined) return [EXISTS]
  return (await isFree(system.config, system.db, NOBODY, name)) ? [] : [DISALLOWED]
}

/** Deletes a domain and its zone, if it exists for the actor (contract §7.4). @throws Denied */
export async function remove(system: System, actor: Viewer, name: string): Promise<void> {
  if (!isDomainName(name)) return
  await system.queues.run(name, () =>
    publishing(system, async (trx, underMark) => {
      const domain = await store.lock(trx, name)
      if (domain === undefined || !sees(actor, domain)) return
      if (!(await mayWriteAll(trx, actor, domain))) throw new Denied()
      await store.remove(trx, domain, unixTime(system.now()))
      // First, so that nobody is sent to a zone that is gone.
      await withdraw(system, trx, underMark, name)
      await underMark({ zone: name, version: null, rrsets: domain.size }, async ({ isDoubtful, mark }) => {
        if (isDoubtful) await note(system, mark, null, domain.size)
        await system.nameserver.deleteZone(`${name}.`)
      })
    }),
  )
}

/** Whether the actor may write everything in the domain, its apex NS RRset in any case (contract §6.5). */
async function mayWriteAll(trx: Db, actor: Viewer, domain: Domain): Promise<boolean> {
  if (actor.policies.length === 0) return true
  if (actor.policies.some((policy) => policy.domainId === domain.id && !policy.permWrite)) return false
  const places = [{ subname: '', type: 'NS' }, ...(await rrsets.list(trx, domain.id))]
  return places.every((place) => mayWrite(actor.policies, domain.id, place))
}

/** All domains, or those of one account, by name; for the operator (contract §15.2). */
export async function listAll(system: System, accountId?: string): Promise<OwnedDomain[]> {
  return store.all(system.db, accountId ?? null)
}

/** Sets what TTLs in a domain may be from now on; those that are there stay (contract §15.2). @throws NotFound */
export async function setMinimumTtl(system: System, name: string, seconds: number): Promise<void> {
  if (!(await store.setMinimumTtl(system.db, name, seconds))) throw new NotFound(`There is no domain ${name}.`)
}
