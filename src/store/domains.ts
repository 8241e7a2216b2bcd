import type { Timestamp } from '../time.ts'
import type { Pool } from 'pg'
import { query, type Db } from './database.ts'
import { page as pageOf, type Cursor, type Page } from './pagination.ts'

export interface Domain {
  id: number
  /** Without final dot. */
  name: string
  ownerId: string
  minimumTtl: number
  /** The SOA serial at the nameserver. */
  version: number
  /** Whether the nameserver rectifies the zone with each publication. */
  rectify: boolean
  /** How many RRsets there are. */
  size: number
  created: Timestamp
  published: Timestamp
  touched: Timestamp
}

const COLUMNS = `domains.id, domains.name, domains.owner_id as "ownerId", domains.minimum_ttl as "minimumTtl",
  domains.version, domains.rectify, domains.size, domains.created, domains.published, domains.touched`

/** An account, and what decides which of its domains exist for the token that acts for it. */
export interface Viewer {
  tokenId: string
  /** The effective account: the bound one of an override token, else the owner. */
  accountId: string
  override: boolean
  /** The token has policies; else it writes without restriction. */
  restricted: boolean
}

/** Whether only the domains that a policy names exist for the viewer, and not all of the account (contract §3.3). */
export function isConfined({ override, restricted }: Viewer): boolean {
  return override && restricted
}

/** The condition for a domain that exists for a viewer, whose members are the bindings; without viewer, for any. */
function visibleTo(viewer: Viewer | undefined): string {
  if (viewer === undefined) return 'true'
  const own = 'domains.owner_id = :accountId'
  return isConfined(viewer)
    ? `${own} and domains.id in (select domain_id from policies where token_id = :tokenId)`
    : own
}

/** The domain of this name, if it exists for the viewer; without viewer, whoever has it. */
export async function find(db: Db, name: string, viewer?: Viewer): Promise<Domain | undefined> {
  const sql = `select ${COLUMNS} from domains where name = :name and ${visibleTo(viewer)}`
  const [domain] = await query<Domain>(db, sql, { ...viewer, name })
  return domain
}

/** The id of the account's domain of this name; the domain is not deleted until the transaction ends. */
export async function keep(trx: Db, name: string, ownerId: string): Promise<number | undefined> {
  const [row] = await query<{ id: number }>(
    trx,
    'select id from domains where name = :name and owner_id = :ownerId for key share',
    { name, ownerId },
  )
  return row?.id
}

/** As `find`; the domain is locked for writing until the transaction ends. */
export async function lock(trx: Db, name: string, viewer?: Viewer): Promise<Domain | undefined> {
  const sql = `select ${COLUMNS} from domains where name = :name and ${visibleTo(viewer)} for no key update`
  const [domain] = await query<Domain>(trx, sql, { ...viewer, name })
  return domain
}

/** The domain, locked for writing; `busy` if another transaction has it. */
export async function lockIfFree(trx: Db, name: string): Promise<Domain | 'busy' | undefined> {
  const [domain] = await query<Domain>(
    trx,
    `select ${COLUMNS} from domains where name = :name for no key update skip locked`,
    { name },
  )
  if (domain !== undefined) return domain
  return (await find(trx, name)) === undefined ? undefined : 'busy'
}

/** Locks the right to create or judge any domain at or below `registrable` until the transaction ends. */
export async function lockCreation(trx: Db, registrable: string): Promise<void> {
  await query(trx, 'select pg_advisory_xact_lock(hashtextextended(:registrable, 0))', { registrable })
}

/** As lockCreation; false, at once, if another transaction has it. */
export async function lockCreationIfFree(trx: Db, registrable: string): Promise<boolean> {
  const [row] = await query<{ free: boolean }>(
    trx,
    'select pg_try_advisory_xact_lock(hashtextextended(:registrable, 0)) as free',
    { registrable },
  )
  return row!.free
}

/** A page of the viewer's domains, newest first; with `ids` only those among them. */
export async function page(pool: Pool, viewer: Viewer, cursor?: Cursor, ids?: number[]): Promise<Page<Domain>> {
  const condition = `${visibleTo(viewer)} ${ids === undefined ? '' : 'and id = any (:ids)'}`
  const list = { table: 'domains', columns: COLUMNS, conditions: [condition], bindings: { ...viewer, ids } }
  return pageOf<Domain>(pool, list, cursor)
}

/** How many domains the viewer has. */
export async function count(db: Db, viewer: Viewer): Promise<number> {
  const sql = `select count(*) as n from domains where ${visibleTo(viewer)}`
  const [row] = await query<{ n: number }>(db, sql, { ...viewer })
  return row!.n
}

/** Those of these names that are domains of the viewer. */
export async function named(db: Db, viewer: Viewer, names: string[]): Promise<Domain[]> {
  const sql = `select ${COLUMNS} from domains where name = any (:names) and ${visibleTo(viewer)}`
  return query<Domain>(db, sql, { ...viewer, names })
}

/** Whether another account owns one of `ancestors`, or a domain below `name`. */
export async function conflicts(db: Db, ownerId: string, name: string, ancestors: string[]): Promise<boolean> {
  // Reversed, the names below are those between `name.` and `name/`, the slash being what follows the dot.
  const [row] = await query<{ conflict: boolean }>(
    db,
    `select exists (select from domains where name = any (:ancestors) and owner_id <> :ownerId)
       or exists (
         select from domains
         where reverse(name) ~>~ (reverse(:name) || '.') and reverse(name) ~<~ (reverse(:name) || '/')
           and owner_id <> :ownerId
       ) as conflict`,
    { ownerId, ancestors, name },
  )
  return row!.conflict
}

/**
 * A version that a new domain of this name must exceed: that of an earlier domain, or what was last tried under a mark; 0
 * if none can be in the future. And whether the zone is marked.
 */
export async function past(db: Db, name: string): Promise<{ version: number; marked: boolean }> {
  const [row] = await query<{ version: number; marked: boolean }>(
    db,
    `select coalesce(greatest(
         (select version from departed where name = :name), (select version from marks where zone = :name)
       ), 0) as version,
       exists (select from marks where zone = :name) as marked`,
    { name },
  )
  return row!
}

/** Adds a domain without RRsets. */
export async function insert(
  trx: Db,
  domain: { name: string; ownerId: string; minimumTtl: number; version: number; now: Timestamp },
): Promise<Domain> {
  const [row] = await query<Domain>(
    trx,
    `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
     values (:name, :ownerId, :minimumTtl, :version, 0, :now, :now, :now) returning ${COLUMNS}`,
    domain,
  )
  return row!
}

/** A day: further than clocks are apart. */
const CLOCK_MARGIN = 86_400

/** Deletes the domain with all that hangs on it, and remembers a version that a successor must exceed. */
export async function remove(trx: Db, domain: Domain, unixTime: number): Promise<void> {
  await query(
    trx,
    `with gone as (delete from domains where id = :id),
       past as (delete from departed where version < :past and name <> :name)
     insert into departed (name, version)
       values (:name, greatest(:version, (select version from marks where zone = :name)))
     on conflict (name) do update set version = greatest(departed.version, excluded.version)`,
    { id: domain.id, name: domain.name, version: domain.version, past: unixTime - CLOCK_MARGIN },
  )
}

/** Records what repair published; for the account nothing happened. */
export async function setRepaired(trx: Db, id: number, version: number): Promise<void> {
  await query(trx, 'update domains set version = :version, rectify = true where id = :id', { id, version })
}

export async function touch(trx: Db, id: number, now: Timestamp): Promise<void> {
  await query(trx, 'update domains set touched = :now where id = :id', { id, now })
}

/** A domain, and the e-mail address of its account. */
export type OwnedDomain = Pick<Domain, 'name' | 'created' | 'minimumTtl'> & { owner: string }

/** The domains of an account, or of all, by name. */
export async function all(db: Db, ownerId: string | null): Promise<OwnedDomain[]> {
  return query(
    db,
    `select domains.name, domains.created, domains.minimum_ttl as "minimumTtl", accounts.email as owner
     from domains join accounts on accounts.id = domains.owner_id
     where cast(:ownerId as uuid) is null or domains.owner_id = :ownerId order by domains.name`,
    { ownerId },
  )
}

/** Sets the minimum TTL of a domain; false if there is no such domain. */
export async function setMinimumTtl(db: Db, name: string, seconds: number): Promise<boolean> {
  const sql = 'update domains set minimum_ttl = :seconds where name = :name returning id'
  return (await query(db, sql, { name, seconds })).length > 0
}

/** The versions of all domains. For repair only: the cost grows with the number of domains. */
export async function versions(db: Db): Promise<{ name: string; version: number }[]> {
  return query(db, 'select name, version from domains')
}
