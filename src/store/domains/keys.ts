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

/** Returns the keys of a domain, which can be a deleted one; none: they were never stored. */
export async function ofDomain(db: Db, domainId: number): Promise<StoredKey[]> {
  const sql =
    'select dnskey, active, published, announced, secret from keys where domain_id = :domainId order by dnskey'
  return query(db, sql, { domainId })
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
       set active = excluded.active, published = excluded.published, secret = excluded.secret`,
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

/** Returns the names of the domains whose keys were never stored. */
export async function missing(db: Db): Promise<string[]> {
  const sql = 'select name from domains where not exists (select from keys where domain_id = domains.id) order by id'
  return (await query<{ name: string }>(db, sql)).map(({ name }) => name)
}
