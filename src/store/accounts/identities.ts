import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, query } from '../database.ts'

/** Who somebody is at an issuer: never an address, which can change and be given to others. */
export interface Identity {
  issuer: string
  sub: string
}

/** An identity of an account. */
export interface Linked extends Identity {
  accountId: string
  created: Timestamp
  lastUsed: Timestamp
}

const COLUMNS = 'issuer, sub, account_id as "accountId", created, last_used as "lastUsed"'

export async function find(db: Db, { issuer, sub }: Identity): Promise<Linked | undefined> {
  return maybeOne(db, `select ${COLUMNS} from identities where issuer = :issuer and sub = :sub`, { issuer, sub })
}

export async function ofAccount(db: Db, accountId: string): Promise<Linked[]> {
  return query(db, `select ${COLUMNS} from identities where account_id = :accountId order by created`, { accountId })
}

/** Links an identity; false if it, or the account at this issuer, is linked already. */
export async function insert(trx: Db, { issuer, sub }: Identity, accountId: string, now: Timestamp): Promise<boolean> {
  const sql = `insert into identities (issuer, sub, account_id, created, last_used)
    values (:issuer, :sub, :accountId, :now, :now) on conflict do nothing returning true as linked`
  return (await query(trx, sql, { issuer, sub, accountId, now })).length > 0
}

export async function use(trx: Db, { issuer, sub }: Identity, now: Timestamp): Promise<void> {
  await query(trx, 'update identities set last_used = :now where issuer = :issuer and sub = :sub', { issuer, sub, now })
}

/** Deletes the identities of an account. Returns their number. */
export async function removeFrom(trx: Db, accountId: string): Promise<number> {
  return (await query(trx, 'delete from identities where account_id = :accountId returning sub', { accountId })).length
}
