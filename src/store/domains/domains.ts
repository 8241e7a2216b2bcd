import type { Pool } from 'pg'
import { DAY, type Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { lostSerialSql } from '../incarnations.ts'
import { type Cursor, type List, type Page, pageOf } from '../pagination.ts'
import { hashSql, ONLY_GROWING, spentSql } from './spent.ts'
import { type Viewer, visibleTo } from './visibility.ts'

/**
 * Seconds for which the last serial of a deleted zone is remembered: longer than a secondary serves a zone without
 * contact, which is the SOA's expire time.
 */
const SERIAL_LIFETIME = 60 * DAY

export { isConfined, type Viewer } from './visibility.ts'

export interface Domain {
  id: number
  /** The name, without final dot. */
  name: string
  ownerId: string
  minimumTtl: number
  /** The SOA serial at the nameserver. */
  version: number
  /** True if the nameserver rectifies the zone at each publication. */
  rectify: boolean
  /** The denial of existence in its zone, in the words of the nameserver. */
  denial: string
  /** True if the operator works on the zone at the nameserver: the service neither writes nor repairs it. */
  paused: boolean
  /** Since when the operator has it suspended: its zone is not at the nameserver; null: it is not. */
  suspended: Timestamp | null
  /** What its account tells people about it; null: nothing. */
  note: string | null
  /** The number of its RRsets. */
  size: number
  /** The octets of their records. */
  octets: number
  created: Timestamp
  published: Timestamp
  touched: Timestamp
}

export const COLUMNS = `domains.id, domains.name, domains.owner_id as "ownerId", domains.minimum_ttl as "minimumTtl",
  domains.version, domains.rectify, domains.denial, domains.paused, domains.suspended, domains.note, domains.size,
  domains.record_octets as octets,
  domains.created, domains.published, domains.touched`

/** A domain that the transaction has locked for writing. */
export interface LockedDomain extends Domain {
  /** The highest serial that was ever sent for the zone, or a higher one: no other contents may be sent under it. */
  sent: number
  /** The addresses of servers to which its account wants NOTIFY to be sent. */
  notify: string[]
}

const KNOWN = `greatest(domains.version, ${spentSql('domains.name')})`

const LOCKED = `${COLUMNS}, greatest(${KNOWN}, ${lostSerialSql(KNOWN)}) as sent,
  coalesce((select notify from transfers where domain_id = domains.id), '{}') as notify`

/** Returns the domain of this name, if the viewer can see it; without viewer: of any account. */
export async function find(db: Db, name: string, viewer?: Viewer): Promise<Domain | undefined> {
  const sql = `select ${COLUMNS} from domains where name = :name and ${visibleTo(viewer)}`
  return maybeOne(db, sql, { ...viewer, name })
}

/** Returns the id of the account's domain of this name, which cannot be deleted until the transaction ends. */
export async function keep(trx: Db, name: string, ownerId: string): Promise<number | undefined> {
  const sql = 'select id from domains where name = :name and owner_id = :ownerId for key share'
  return (await maybeOne<{ id: number }>(trx, sql, { name, ownerId }))?.id
}

/** Finds the domain like `find`, and locks it for writing until the transaction ends. */
export async function lock(trx: Db, name: string, viewer?: Viewer): Promise<LockedDomain | undefined> {
  const sql = `select ${LOCKED} from domains where name = :name and ${visibleTo(viewer)} for no key update`
  return maybeOne(trx, sql, { ...viewer, name })
}

/** Locks the domain for writing, without waiting: `busy` if another transaction holds the lock. */
export async function lockIfFree(trx: Db, name: string): Promise<LockedDomain | 'busy' | undefined> {
  const sql = `select ${LOCKED} from domains where name = :name for no key update skip locked`
  return (await maybeOne<LockedDomain>(trx, sql, { name })) ?? ((await find(trx, name)) && 'busy')
}

/** The domains of a list: only those with these ids, whose names contain a text. */
export interface Filter {
  ids?: number[]
  search?: string
}

function matching(viewer: Viewer, { ids, search }: Filter): string {
  return `${visibleTo(viewer)} ${ids === undefined ? '' : 'and id = any (:ids)'}
    ${search === undefined ? '' : 'and strpos(name, :search) > 0'}`
}

/** The list of the domains that the viewer can see and that match the filter. */
export function listOf(viewer: Viewer, filter: Filter): List {
  const conditions = [matching(viewer, filter)]
  return { table: 'domains', columns: COLUMNS, conditions, bindings: { ...viewer, ...filter } }
}

/** Returns a page of the domains that the viewer can see and that match the filter, newest first. */
export async function page(pool: Pool, viewer: Viewer, cursor?: Cursor, filter: Filter = {}): Promise<Page<Domain>> {
  return pageOf<Domain>(pool, listOf(viewer, filter), cursor)
}

/** Counts the domains that the viewer can see and that match the filter. */
export async function count(db: Db, viewer: Viewer, filter: Filter = {}): Promise<number> {
  const sql = `select count(*) as n from domains where ${matching(viewer, filter)}`
  return (await one<{ n: number }>(db, sql, { ...viewer, ...filter })).n
}

/** Returns the domains of these names that the viewer can see. */
export async function named(db: Db, viewer: Viewer, names: string[]): Promise<Domain[]> {
  const sql = `select ${COLUMNS} from domains where name = any (:names) and ${visibleTo(viewer)}`
  return query<Domain>(db, sql, { ...viewer, names })
}

/** Returns the highest serials that were ever sent for some domains. */
export async function sent(db: Db, names: string[]): Promise<{ name: string; sent: number }[]> {
  const sql = `select name, greatest(${KNOWN}, (select version from marks where zone = domains.name)) as sent
    from domains where name = any (:names)`
  return names.length === 0 ? [] : query(db, sql, { names })
}

/**
 * Adds a domain without RRsets; or, with `id` and `created`, a deleted one.
 * @param domain.isMember true to list it in the catalog zone
 */
export async function insert(
  trx: Db,
  domain: Pick<Domain, 'name' | 'ownerId' | 'minimumTtl' | 'version' | 'denial'> &
    Partial<Pick<Domain, 'id' | 'created' | 'note'>> & { isMember: boolean; now: Timestamp },
): Promise<LockedDomain> {
  const isNew = domain.id === undefined
  return one(
    trx,
    `with inserted as (
       insert into domains (${isNew ? '' : 'id, history_octets, '}name, owner_id, minimum_ttl, version, denial, note, size, created,
         published, touched)
       overriding system value
       values (${isNew ? '' : ':id, (select history_octets from deleted_domains where id = :id), '}:name, :ownerId, :minimumTtl, :version, :denial, :note, 0, :created, :now, :now)
       returning *
     ), member as (
       insert into catalog_members (domain_id, zone) select id, name from inserted where :isMember
       on conflict (domain_id) do update set listed = false, gone = false, lost = false
     )
     select ${LOCKED} from inserted as domains`,
    { created: domain.now, note: null, ...domain },
  )
}

/**
 * Deletes the domain with its RRsets and policies. Keeps the highest serial that was sent for it, and forgets some of
 * those that no secondary can still serve.
 */
export async function remove(trx: Db, { id, name, sent }: LockedDomain): Promise<void> {
  await query(
    trx,
    `with gone as (delete from domains where id = :id),
       member as (update catalog_members set gone = true where domain_id = :id),
       past as (delete from spent where name = :name or name in (
         select name from spent where noted < now() - ${SERIAL_LIFETIME} * interval '1 second'
           and name not in (:name, ${hashSql(':name')})
         order by noted limit 10 for update skip locked
       ))
     insert into spent (name, version)
       values (${hashSql(':name')}, greatest(:sent, ${spentSql(':name')}, (select version from marks where zone = :name)))
     ${ONLY_GROWING}`,
    { id, name, sent },
  )
}

/** Stores the version that repair published, or shall exceed. Timestamps stay, because nothing changed for the account. */
export async function setRepaired(trx: Db, id: number, version: number): Promise<void> {
  await query(trx, 'update domains set version = :version, rectify = true where id = :id', { id, version })
}

export async function touch(trx: Db, id: number, now: Timestamp): Promise<void> {
  await query(trx, 'update domains set touched = :now where id = :id', { id, now })
}

/** A domain with the e-mail address of its account. */
export type OwnedDomain = Pick<Domain, 'name' | 'created' | 'minimumTtl' | 'paused' | 'suspended'> & { owner: string }

/** Returns the domains of one account, or of all, whose names contain a text, sorted by name. */
export async function all(db: Db, ownerId: string | null, search: string): Promise<OwnedDomain[]> {
  return query(
    db,
    `select domains.name, domains.created, domains.minimum_ttl as "minimumTtl", domains.paused,
       domains.suspended, accounts.email as owner
     from domains join accounts on accounts.id = domains.owner_id
     where (cast(:ownerId as uuid) is null or domains.owner_id = :ownerId) and strpos(domains.name, :search) > 0
     order by domains.name`,
    { ownerId, search },
  )
}

export async function setDenial(trx: Db, id: number, denial: string): Promise<void> {
  await query(trx, 'update domains set denial = :denial where id = :id', { id, denial })
}

export async function setNote(trx: Db, id: number, note: string | null): Promise<void> {
  await query(trx, 'update domains set note = :note where id = :id', { id, note })
}

/** Returns some of the domains that were published since then, the latest first, in time linear in all domains. */
export async function publishedSince(db: Db, time: Timestamp, limit: number): Promise<Domain[]> {
  const sql = `select ${COLUMNS} from domains where published >= :time order by published desc limit :limit`
  return query(db, sql, { time, limit })
}

/** Returns the domains with the next ids. */
export async function listAfter(db: Db, id: number, limit: number): Promise<Domain[]> {
  return query(db, `select ${COLUMNS} from domains where id > :id order by id limit :limit`, { id, limit })
}

/** Returns the versions of all domains, for the audit only: the cost grows with the number of domains. */
export async function versions(db: Db): Promise<Pick<Domain, 'id' | 'name' | 'version' | 'paused' | 'suspended'>[]> {
  return query(db, 'select id, name, version, paused, suspended from domains')
}

/** Counts all domains. */
export async function countAll(db: Db): Promise<number> {
  return (await one<{ number: number }>(db, 'select count(*) as number from domains')).number
}
