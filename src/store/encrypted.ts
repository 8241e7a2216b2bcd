import { type Db, query } from './database.ts'

// The secrets that the database has encrypted, in columns named `secret`.

const DOMAIN = `coalesce((select name from domains where id = domain_id),
  (select name from deleted_domains where id = domain_id))`

/** The column of the owner's id, by table, and in SQL the owner's name in the encryption. */
const TABLES = {
  totp_factors: { id: 'id', type: 'uuid', owner: 'cast(id as text)' },
  keys: { id: 'domain_id', type: 'bigint', owner: DOMAIN },
  transfers: { id: 'domain_id', type: 'bigint', owner: DOMAIN },
  tsig_keys: { id: 'token_id', type: 'uuid', owner: 'cast(token_id as text)' },
  webhook_secrets: { id: 'webhook_id', type: 'uuid', owner: 'cast(webhook_id as text)' },
}

export type SecretTable = keyof typeof TABLES

/** A secret, and its owner: a second factor, a token or a webhook by its id, or a domain by its name, which can be a deleted one. */
export interface StoredSecret {
  table: SecretTable
  owner: string
  secret: Buffer
}

/** Returns the secrets of the oldest and the newest key, and of the newest second factor, if any. */
export async function someSecrets(db: Db): Promise<StoredSecret[]> {
  const some = (table: SecretTable, order: string) =>
    `(select '${table}' as table, ${TABLES[table].owner} as owner, secret from ${table} order by ${order} limit 1)`
  const chosen = [some('keys', 'domain_id'), some('keys', 'domain_id desc'), some('totp_factors', 'created desc')]
  return query(db, chosen.join(' union all '))
}

/** A secret in the database, at a place that stays the same while its row is locked. */
export type PlacedSecret = StoredSecret & { id: string | number; place: string }

/** Returns the secrets of the next owners in a table, after the one with this id; locked until the transaction ends. */
export async function lockSecrets(trx: Db, table: SecretTable, after: string | number | null): Promise<PlacedSecret[]> {
  const { id, type, owner } = TABLES[table]
  const next = `select distinct ${id} from ${table}
    where secret is not null and (cast(:after as ${type}) is null or ${id} > :after) order by ${id} limit 1000`
  return query(
    trx,
    `select '${table}' as table, ${owner} as owner, secret, ${id} as id, ctid as place from ${table}
     where ${id} in (${next}) and secret is not null order by ${id} for no key update`,
    { after },
  )
}

/** Stores other ciphertexts of the same secrets. */
export async function setSecrets(trx: Db, table: SecretTable, secrets: PlacedSecret[]): Promise<void> {
  await query(
    trx,
    `update ${table} set secret = changed.secret
     from unnest(cast(:places as tid[]), cast(:secrets as bytea[])) as changed (place, secret)
     where ${table}.ctid = changed.place`,
    { places: secrets.map(({ place }) => place), secrets: secrets.map(({ secret }) => secret) },
  )
}
