import { maybeOne, query, type Db } from '../database.ts'

/** Who may transfer a zone besides those whom the operator allows, as its account has said. */
export interface StoredTransfers {
  /** Addresses and networks. */
  addresses: string[]
  /** The addresses that are told of changes. */
  notify: string[]
  /** Of the zone's own TSIG key, encrypted; null: it has none. */
  secret: Buffer | null
}

/** Those of a domain, which may be a deleted one; undefined: the account has never said. */
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

/** Stores that nobody may, unless the account has said something. */
export async function putNone(db: Db, domainId: number): Promise<void> {
  const sql = `insert into transfers (domain_id, addresses, notify) values (:domainId, '{}', '{}') on conflict do nothing`
  await query(db, sql, { domainId })
}
