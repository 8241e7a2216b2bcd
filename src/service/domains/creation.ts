import { isDeepStrictEqual } from 'node:util'
import { absolute } from '../../dns/names.ts'
import { AUTOMATIC_TYPES } from '../../dns/types.ts'
import { KEY_TYPES } from '../../dns/zonefile.ts'
import { Denied, Invalid, NameserverFailure, neverSent, NotFound, Occluded } from '../../errors.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import { APEX_NS_TTL, SMALL_WRITE } from '../../limits.ts'
import { DENIALS } from '../../nameserver/nameserver.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import { allOf } from '../../store/connections/failures.ts'
import type { Db } from '../../store/database.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import * as store from '../../store/domains/domains.ts'
import * as rollovers from '../../store/domains/rollovers.ts'
import * as tokenPolicies from '../../store/tokens/policies.ts'
import { buried, exhume } from '../../store/zone/deleted-domains.ts'
import type { RRsetState } from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { after, type Timestamp } from '../../time.ts'
import { type Actor, operatorFor, type Writer } from '../actor.ts'
import { disallowed, type NameInput, nameProblems, reserveName } from '../names/availability.ts'
import { occlusionProblems, planMany, withNames } from '../rrsets/bulk.ts'
import { NO_CONDITIONS } from '../rrsets/conditions.ts'
import { inTurn } from '../throttling/callers.ts'
import { authoriseEach, policiesOn } from '../tokens/policies.ts'
import { renew } from '../tokens/rights.ts'
import { scanForMembers } from '../work/work.ts'
import { refuseTooLarge, sizeOf } from '../zone/changes.ts'
import { nextVersion } from '../zone/claim.ts'
import { authorOf } from '../zone/journal.ts'
import { occlusions } from '../zone/occlusion.ts'
import { openPublication, type Publication } from '../zone/publication.ts'
import type { RRsetInput } from '../zone/rrset-input.ts'
import { Zone } from '../zone/zone.ts'
import { createZone } from '../zone/zone-creation.ts'
import { authoriseCut, delegate } from './delegations.ts'
import { type Deleted, deletedDomain, restore } from './domain-history.ts'
import { type DomainWithKeys, type Key, managedKeys } from './keys.ts'
import type { ZoneFile } from './zonefiles.ts'
import * as zonefiles from './zonefiles.ts'

/** A request for a new domain. */
export interface DomainInput extends NameInput {
  /** True to restore the account's deleted domain of this name: as it was at its deletion, or at this time. */
  restore?: boolean
  at?: Timestamp
  /** The note; with `restore`, instead of the former one. Empty: none. */
  note?: string
  /** The zone file to import. */
  zonefile?: string
  /** The RRsets to create, without those that an import ignores; not together with a zone file. */
  rrsets?: RRsetInput[]
}

/** The first RRsets of a new domain, besides the NS of the apex. */
type Contents = ZoneFile | { rrsets: RRsetInput[] }

/** @throws Denied if the account has reached its limit of domains */
export async function refuseBeyondQuota({ db }: { db: Db }, { accountId }: Pick<Actor, 'accountId'>): Promise<void> {
  const account = await accounts.get(db, accountId)
  if (account !== undefined && account.domains < (account.limitDomains ?? Infinity)) return
  throw new Denied('Domain limit exceeded. Please contact support to create additional domains.')
}

/**
 * Creates a domain with its apex NS RRset, the imported RRsets and its signed zone; all or nothing (contract §7.4).
 * @throws Unauthenticated, Denied, Invalid, Unavailable, NameserverFailure
 */
export async function create(system: System, writer: Writer, input: DomainInput): Promise<DomainWithKeys> {
  return inTurn(system, `account ${writer.accountId}`, writer, async () => {
    if (input.restore === true && input.zonefile) throw Invalid.field('zonefile', 'Cannot be combined with restore.')
    if (input.restore !== true && input.at) throw Invalid.field('at', 'Cannot be given without restore.')
    const { name, zonefile: text = '' } = input
    // Read before the transaction, so that other writers do not wait for it; not for a name that no account can have.
    // Its errors come after those of the name.
    const zonefile = name === undefined || nameProblems(name).length > 0 ? [] : await zonefiles.read(text, name)
    const rrsets = input.rrsets?.filter((rrset) => !isGenerated(rrset))
    const contents = rrsets === undefined ? zonefile : { rrsets }
    const isLarge = countOf(contents) > SMALL_WRITE
    await using publication = await openPublication(system, writer, { isLarge })
    const created = await add(publication, writer, input, contents).catch((error: unknown) => {
      throw rrsets === undefined ? error : withNames(error, { name: name! }, rrsets)
    })
    await publication.commit()
    return created
  })
}

/**
 * Creates a domain like `create`, inside the caller's publication.
 * @param writer owns the domain; the policies of its token apply to the import
 */
export async function add(
  publication: Publication,
  writer: Writer,
  input: Omit<DomainInput, 'zonefile' | 'rrsets'>,
  contents: Contents = [],
): Promise<DomainWithKeys> {
  const place = await reserve(publication, writer, input)
  const domain = await insert(publication, place)
  const keys = await populate(publication, place, domain, contents)
  await delegate(publication, domain.name, keys)
  return { ...domain, keys }
}

type Place = Awaited<ReturnType<typeof reserve>>

/**
 * Reserves the name, and room for another domain of the account, until the transaction ends.
 * @returns also the writer's present rights, and the deleted domain that comes back
 */
async function reserve({ system, trx }: Publication, writer: Writer, input: DomainInput) {
  const { accountId } = writer
  // Sent together. The statements after a lock see the state at the time when the lock is granted.
  const [creator, , , { name, past }] = await allOf([
    renew(system, trx, writer, 'domainCreation'),
    accounts.lockQuota(trx, accountId),
    refuseBeyondQuota({ db: trx }, writer),
    reserveName(system, trx, writer, input),
  ])
  await authoriseCut(trx, creator, name)
  const old = input.restore === true ? await deletedDomain(trx, name, creator, input.at) : undefined
  const note = input.note === undefined ? (old?.note ?? null) : input.note || null
  return { creator, name, past, old, note }
}

/** Stores the domain without RRsets. @throws Invalid if the zone is foreign */
async function insert({ system, trx }: Publication, { creator, name, past, old, note }: Place): Promise<LockedDomain> {
  const now = old === undefined ? system.now() : after(old.deleted, system.now())
  const row = {
    minimumTtl: system.config.minimumTtl,
    denial: DENIALS[system.config.denial],
    ...old,
    name,
    note,
    ownerId: creator.accountId,
    version: nextVersion(system, past.sent + 1),
    isMember: system.config.catalogZone !== undefined,
    now,
  }
  scanForMembers(system, trx)
  // If the name is marked, its zone may be one that an earlier creation left.
  const [domain] = await allOf([store.insert(trx, row), past.marked ? undefined : refuseForeignZone(system, name)])
  if (old !== undefined) {
    await exhume(trx, old.id)
    await rollovers.askParentAgain(trx, old.id, now)
  }
  if (creator.autoPolicy && old === undefined) await tokenPolicies.allowDomain(trx, creator.tokenId, domain.id, now)
  return domain
}

async function refuseForeignZone({ nameserver }: System, name: string): Promise<void> {
  const serial = await nameserver.serial(absolute(name)).catch((error: unknown) => {
    throw neverSent(error)
  })
  if (serial !== undefined) throw disallowed()
}

/** Stores the first RRsets and creates the zone. @throws Denied, Invalid, Unavailable, NameserverFailure */
async function populate(
  publication: Publication,
  { creator, old }: Place,
  domain: LockedDomain,
  contents: Contents,
): Promise<Key[]> {
  const isEmpty = countOf(contents) === 0
  const author = authorOf(creator, old !== undefined ? 'restore' : isEmpty ? 'creation' : 'import')
  const policies = await policiesOn(publication.trx, creator, domain.id)
  const zone = new Zone(publication, domain, author, { policies })
  const rrsets = await firstRRsets(zone, contents, old)
  const keys = await createZone(zone, rrsets, old === undefined ? null : 'return').catch((error: unknown) => {
    // Another program has created the zone since PowerDNS was asked.
    if (error instanceof NameserverFailure && error.kind === 'conflict') throw disallowed()
    throw rrsets.length > 1 ? zonefiles.orRefused(error) : error
  })
  return managedKeys(domain, keys)
}

/** Reports whether the service itself writes the RRset, as with a zone file (contract §7.7). */
function isGenerated({ subname = '', type = '' }: RRsetInput): boolean {
  return AUTOMATIC_TYPES.has(type) || KEY_TYPES.has(type) || (type === 'NS' && subname === '')
}

function countOf(contents: Contents): number {
  if ('rrsets' in contents) return contents.rrsets.length
  // A file that cannot be read is not empty.
  return Array.isArray(contents) ? contents.length : 1
}

/** Returns the RRsets in a request for a new domain. @throws Denied; Invalid with the problems of each */
function* toCreate(zone: Zone, inputs: RRsetInput[]): Work<RRsetState[]> {
  const changes = yield* planMany(zone, 'POST', inputs)
  const found = yield* occlusions(zone.domain, changes, [], [])
  if (found.length > 0) throw new Invalid(occlusionProblems(changes, new Occluded(found)))
  return changes.flatMap(({ after }) => after ?? [])
}

/** Returns the RRsets of a new domain, or of one that comes back. @throws Denied, Invalid */
async function firstRRsets(zone: Zone, contents: Contents, old: Deleted | undefined): Promise<RRsetState[]> {
  const { nameServers } = zone.publication.system.config
  const apexNs = { subname: '', type: 'NS', ttl: APEX_NS_TTL, records: nameServers }
  if (old === undefined) {
    const given = 'rrsets' in contents ? toCreate(zone, contents.rrsets) : zonefiles.toImport(zone, contents)
    const rrsets = [apexNs, ...(await inSlices(given))]
    // A zone file may have RRSETS_MAX RRsets beside the NS of the apex.
    refuseTooLarge(zone.publication.system.config, zone.domain, { ...sizeOf(rrsets), rrsets: 0 })
    return rrsets
  }
  // Every new domain has these, whatever the policies.
  const others = old.rrsets.filter((rrset) => !isDeepStrictEqual(rrset, apexNs))
  await authoriseEach(zone.policies, zone.domain.id, others)
  return old.rrsets
}

/**
 * Restores a deleted domain for the account that had it, or, with a time, the state of an existing one; for the
 * operator.
 * @param at undefined: the state at its deletion
 * @throws NotFound, Invalid, Denied
 */
export async function bringBack(system: System, name: string, at: Timestamp | undefined): Promise<void> {
  const present = await store.find(system.db, name)
  if (present !== undefined && at !== undefined) {
    const access = { system, actor: operatorFor(present.ownerId), domain: present }
    await restore(access, { at }, { ...NO_CONDITIONS, dryRun: false })
    return
  }
  const deleted = present ?? (await buried(system.db, name, null, at))
  if (deleted === undefined) throw new NotFound(`There is no deleted domain ${name}, or its history is gone.`)
  const input = { name, restore: true, problems: {} }
  await create(system, operatorFor(deleted.ownerId), at === undefined ? input : { ...input, at })
}
