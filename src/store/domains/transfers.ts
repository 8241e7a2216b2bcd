import { maybeOne, query, type Db } from '../database.ts'

/** The permissions to transfer a zone besides the operator's, as its account has set them. */
export interface StoredTransfers {
  /** Addresses and networks. */
  addresses: string[]
  /** The addresses that receive NOTIFY. */
  notify: string[]
  /** The secret of the zone's own TSIG key, encrypted; null: it has none. */
  secret: Buffer | null
}

/** Returns the permissions of a domain, which can be a deleted one; undefined: the account has never set any. */
export async function ofDomain(db: Db, domainId: number): Promise<StoredTransfers | undefined> {
  return maybeOne(db, 'select addresses, notify, secret from transfers where domain_id = :domainId', { domainId })
}

export async function put(db: Db, domainId: number, transfers: StoredTransfers): Promise<void> {
  await query(
    db,
    `insert into transfers (domain_id, addresses, notify, secret) values (:domainId, :addresses, :notify, :secret)
     on conflict (domain_id) do update
       set addresses = excluded.addresses, notify = excluded.notify, secret = excluded.secret`,
    { domainId, ...transfers },
  )
}

/** Stores that no transfer is permitted, unless the account has set something. */
export async function putNone(db: Db, domainId: number): Promise<void> {
  const sql = `insert into transfers (domain_id, addresses, notify) values (:domainId, '{}', '{}') on conflict do nothing`
  await query(db, sql, { domainId })
}
