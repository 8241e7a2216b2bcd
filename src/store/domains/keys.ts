import type { Timestamp } from '../../time.ts'
import { type Db, query, removal } from '../database.ts'

/** A key that signs a zone. */
export interface StoredKey {
  /** The public half: the content of its DNSKEY record. */
  dnskey: string
  active: boolean
  published: boolean
  /** True if the parent shall have its DS. */
  announced: boolean
  /** The private half, encrypted. */
  secret: Buffer
}

/** Returns a domain's keys, except retired ones; none if they were never stored. Works for deleted domains. */
export async function keysOf(db: Db, domainId: number): Promise<StoredKey[]> {
  const sql = `select dnskey, active, published, announced, secret from keys
    where domain_id = :domainId and retired is null order by dnskey`
  return query(db, sql, { domainId })
}

/** Returns the public halves of the keys that the domain's zone shall not have any more. */
export async function retired(db: Db, domainId: number): Promise<string[]> {
  const sql = 'select dnskey from keys where domain_id = :domainId and retired is not null'
  return (await query<{ dnskey: string }>(db, sql, { domainId })).map(({ dnskey }) => dnskey)
}

/**
 * Stores keys of a domain.
 * @param options.only true to delete its other keys, but for retired ones
 * @param options.announced whether new ones are announced; the others stay so, or not
 */
export async function put(
  db: Db,
  domainId: number,
  keys: Omit<StoredKey, 'announced'>[],
  { only, announced = true }: { only: boolean; announced?: boolean },
): Promise<void> {
  await query(
    db,
    `with gone as (
       delete from keys where domain_id = :domainId and :only and dnskey <> all (:dnskeys) and retired is null
     )
     insert into keys (domain_id, announced, dnskey, active, published, secret)
       select :domainId, :announced, * from unnest(
         cast(:dnskeys as text[]), cast(:active as boolean[]), cast(:published as boolean[]), cast(:secrets as bytea[])
       )
     on conflict (domain_id, dnskey) do update
       set active = excluded.active, published = excluded.published, secret = excluded.secret, retired = null`,
    {
      domainId,
      only,
      announced,
      dnskeys: keys.map(({ dnskey }) => dnskey),
      active: keys.map(({ active }) => active),
      published: keys.map(({ published }) => published),
      secrets: keys.map(({ secret }) => secret),
    },
  )
}

/**
 * Sets the states of keys of a domain, by their public halves. Does not publish or announce inactive keys that were not so
 * before. A key that is no longer announced can come back when it has retired.
 * @param now the time at which they retire; null: they do not
 */
export async function setStates(
  trx: Db,
  domainId: number,
  dnskeys: string[],
  state: Pick<StoredKey, 'published' | 'announced'>,
  now: Timestamp | null = null,
): Promise<void> {
  const sql = `update keys set retired = :now, former = former or announced and not :announced,
      published = :published and (active or published), announced = :announced and (active or announced)
    where domain_id = :domainId and dnskey = any (:dnskeys)`
  await query(trx, sql, { domainId, dnskeys, ...state, now })
}

/** The keys of the domains of a name that its account has deleted: they retired then, and the parent may still have their DS. */
const OF_FORMER_DOMAINS = `keys join deleted_domains as before on before.id = domain_id
  where name = :name and owner_id = :ownerId and domain_id <> :id and (retired is null or former)`

/**
 * Returns the public halves of the keys that were replaced, those that retired together in one array, the last first; with
 * those of the domains of this name that the same account has deleted.
 */
export async function former(db: Db, domain: { id: number; name: string; ownerId: string }): Promise<string[][]> {
  const sql = `select array_agg(dnskey order by dnskey) as dnskeys from (
      select dnskey, max(since) as since from (
        select dnskey, retired as since from keys where domain_id = :id and retired is not null and former
        union all select dnskey, coalesce(retired, deleted) from ${OF_FORMER_DOMAINS}
      ) as every group by dnskey
    ) as each group by since order by since desc`
  return (await query<{ dnskeys: string[] }>(db, sql, { ...domain })).map(({ dnskeys }) => dnskeys)
}

/** Gives a domain those of these keys that only deleted domains of its name have: it is their successor. */
export async function inherit(
  trx: Db,
  domain: { id: number; name: string; ownerId: string },
  dnskeys: string[],
): Promise<void> {
  await query(
    trx,
    `insert into keys (domain_id, dnskey, active, published, announced, secret, retired, former)
       select distinct on (dnskey) :id, dnskey, active, false, false, secret, coalesce(retired, deleted), true
       from ${OF_FORMER_DOMAINS} and dnskey = any (:dnskeys) order by dnskey, coalesce(retired, deleted) desc
     on conflict (domain_id, dnskey) do nothing`,
    { ...domain, dnskeys },
  )
}

/** Erases at most `limit` keys that retired before this time, and returns their number. */
export async function eraseRetired(db: Db, time: Timestamp, limit: number): Promise<number> {
  const sql = `${removal('keys', 'domain_id, dnskey', 'retired < :time limit :limit')} returning domain_id`
  return (await query(db, sql, { time, limit })).length
}

/** Returns the names of the domains whose keys were never stored. */
export async function missing(db: Db): Promise<string[]> {
  const sql = `select name from domains
    where suspended is null and not exists (select from keys where domain_id = domains.id) order by id`
  return (await query<{ name: string }>(db, sql)).map(({ name }) => name)
}
