import { query, type Db } from '../database.ts'

/** A key that signs a zone. */
export interface StoredKey {
  /** The public half: the content of its DNSKEY record. */
  dnskey: string
  active: boolean
  published: boolean
  /** The private half, encrypted. */
  secret: Buffer
}

/** The keys of a domain, which may be a deleted one; none: they were never stored. */
export async function ofDomain(db: Db, domainId: number): Promise<StoredKey[]> {
  const sql = 'select dnskey, active, published, secret from keys where domain_id = :domainId order by dnskey'
  return query(db, sql, { domainId })
}

/** Stores keys of a domain. @param options.only whether its other keys are deleted */
export async function put(db: Db, domainId: number, keys: StoredKey[], { only }: { only: boolean }): Promise<void> {
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

/** The names of the domains whose keys were never stored. */
export async function missing(db: Db): Promise<string[]> {
  const sql = 'select name from domains where not exists (select from keys where domain_id = domains.id) order by id'
  return (await query<{ name: string }>(db, sql)).map(({ name }) => name)
}

/** A key, and the domain that it belongs to; it may be a deleted one. */
export type OwnedKey = Pick<StoredKey, 'dnskey' | 'secret'> & { domainId: number; domain: string }

const OWNED = `select keys.domain_id as "domainId", coalesce(domains.name, deleted_domains.name) as domain, keys.dnskey,
    keys.secret
  from keys left join domains on domains.id = keys.domain_id
    left join deleted_domains on deleted_domains.id = keys.domain_id`

/** The oldest and the newest key, if there is any. */
export async function ends(db: Db): Promise<OwnedKey[]> {
  return query(db, `(${OWNED} order by domain_id limit 1) union all (${OWNED} order by domain_id desc limit 1)`)
}

/** All keys of the next domains that have some, after the one with this id; locked until the transaction ends. */
export async function lockSome(trx: Db, after: number): Promise<OwnedKey[]> {
  const some = 'select distinct domain_id from keys where domain_id > :after order by domain_id limit 1000'
  return query(trx, `${OWNED} where domain_id in (${some}) order by domain_id, dnskey for update of keys`, { after })
}

/** Stores other ciphertexts of the same secrets. */
export async function setSecrets(trx: Db, keys: Omit<OwnedKey, 'domain'>[]): Promise<void> {
  await query(
    trx,
    `update keys set secret = changed.secret
     from unnest(cast(:ids as bigint[]), cast(:dnskeys as text[]), cast(:secrets as bytea[])) as changed (id, dnskey, secret)
     where keys.domain_id = changed.id and keys.dnskey = changed.dnskey`,
    {
      ids: keys.map(({ domainId }) => domainId),
      dnskeys: keys.map(({ dnskey }) => dnskey),
      secrets: keys.map(({ secret }) => secret),
    },
  )
}
