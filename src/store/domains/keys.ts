import type { Timestamp } from '../../time.ts'
import { query, type Db } from '../database.ts'

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

/** Returns the keys of a domain, which can be a deleted one, without retired ones; none: they were never stored. */
export async function ofDomain(db: Db, domainId: number): Promise<StoredKey[]> {
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
 * Stores keys of a domain; new ones are announced, the others stay so, or not.
 * @param options.only true to delete its other keys
 */
export async function put(
  db: Db,
  domainId: number,
  keys: Omit<StoredKey, 'announced'>[],
  { only }: { only: boolean },
): Promise<void> {
  await query(
    db,
    `with gone as (delete from keys where domain_id = :domainId and :only and dnskey <> all (:dnskeys))
     insert into keys (domain_id, dnskey, active, published, secret)
       select :domainId, * from unnest(
         cast(:dnskeys as text[]), cast(:active as boolean[]), cast(:published as boolean[]), cast(:secrets as bytea[])
       )
     on conflict (domain_id, dnskey) do update
       set active = excluded.active, published = excluded.published, secret = excluded.secret, retired = null`,
    {
      domainId,
      only,
      dnskeys: keys.map(({ dnskey }) => dnskey),
      active: keys.map(({ active }) => active),
      published: keys.map(({ published }) => published),
      secrets: keys.map(({ secret }) => secret),
    },
  )
}

/**
 * Sets the states of keys of a domain, by their public halves. A key that does not sign is not published or announced
 * because of that.
 * @param now if they retire
 */
export async function setStates(
  trx: Db,
  domainId: number,
  dnskeys: string[],
  state: Pick<StoredKey, 'published' | 'announced'>,
  now: Timestamp | null = null,
): Promise<void> {
  const sql = `update keys set retired = :now,
      published = :published and (active or published), announced = :announced and (active or announced)
    where domain_id = :domainId and dnskey = any (:dnskeys)`
  await query(trx, sql, { domainId, dnskeys, ...state, now })
}

/** A key that the nameserver shall not have any more. */
export interface RetiredKey {
  domainId: number
  dnskey: string
  /** The name of its domain; null: the domain is deleted. */
  name: string | null
  retired: Timestamp
  /** The last check at the parent, in JSON; null: there was none since the key retired. */
  observation: string | null
}

/**
 * Returns keys that retired before this time, with what was seen at the parent since, in a fixed order.
 * @param last the key after which they begin
 */
export async function retiredBefore(
  db: Db,
  time: Timestamp,
  last: Pick<RetiredKey, 'domainId' | 'dnskey'>,
  limit: number,
): Promise<RetiredKey[]> {
  return query(
    db,
    `select keys.domain_id as "domainId", dnskey, name, retired,
       case when checked > retired and state <> 'unknown' then observation end as observation
     from keys left join domains on id = keys.domain_id left join delegations on delegations.domain_id = keys.domain_id
     where retired < :time and (keys.domain_id, dnskey) > (:domainId, :dnskey)
     order by keys.domain_id, dnskey limit :limit`,
    { time, ...last, limit },
  )
}

/** Erases a key, unless it has come back. */
export async function erase(db: Db, { domainId, dnskey }: Pick<RetiredKey, 'domainId' | 'dnskey'>): Promise<void> {
  const sql = 'delete from keys where domain_id = :domainId and dnskey = :dnskey and retired is not null'
  await query(db, sql, { domainId, dnskey })
}

/** Returns the names of the domains whose keys were never stored. */
export async function missing(db: Db): Promise<string[]> {
  const sql = 'select name from domains where not exists (select from keys where domain_id = domains.id) order by id'
  return (await query<{ name: string }>(db, sql)).map(({ name }) => name)
}
