import { type Db, maybeOne, one, query } from '../database.ts'

/** The permissions to transfer a zone besides the operator's, as its account has set them. */
export interface StoredTransfers {
  /** Addresses and networks. */
  addresses: string[]
  /** The addresses that receive NOTIFY. */
  notify: string[]
  /** The secret of the zone's own TSIG key, encrypted; null: it has none. */
  secret: Buffer | null
  /** The name of this key, or of the next one. */
  keyName: string
}

/** Returns the permissions of a domain, which can be a deleted one; undefined: the account has never set any. */
export async function storedTransfers(db: Db, domainId: number): Promise<StoredTransfers | undefined> {
  const sql = 'select addresses, notify, secret, key_name as "keyName" from transfers where domain_id = :domainId'
  return maybeOne(db, sql, { domainId })
}

/** Stores permissions. If they withdraw the key, the next one gets a new name. */
export async function put(db: Db, domainId: number, transfers: Omit<StoredTransfers, 'keyName'>): Promise<void> {
  await query(
    db,
    `insert into transfers (domain_id, addresses, notify, secret) values (:domainId, :addresses, :notify, :secret)
     on conflict (domain_id) do update
       set addresses = excluded.addresses, notify = excluded.notify, secret = excluded.secret,
         key_name = case when transfers.secret is not null and excluded.secret is null then excluded.key_name
           else transfers.key_name end`,
    { domainId, ...transfers },
  )
}

/** Stores that no transfer is permitted, unless the account has set something. Returns the name of the zone's key. */
export async function putNone(db: Db, domainId: number): Promise<string> {
  const sql = `insert into transfers (domain_id, addresses, notify) values (:domainId, '{}', '{}')
    on conflict (domain_id) do update set domain_id = excluded.domain_id returning key_name as "keyName"`
  return (await one<{ keyName: string }>(db, sql, { domainId })).keyName
}
