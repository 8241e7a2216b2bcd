import type { Pool } from 'pg'
import type { Timestamp } from '../../time.ts'
import { violationError } from '../connections/constraints.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'

/** A passkey of an account. */
export interface Passkey {
  id: string
  created: Timestamp
  /** null: never. */
  lastUsed: Timestamp | null
  name: string
  /** True if copies exist beyond the device. */
  backedUp: boolean
}

/** What the service must know of a credential to verify its signatures. */
export interface Credential {
  credentialId: Buffer
  /** In COSE form. */
  publicKey: Buffer
  /** The counter of its latest signature; 0: it has none. */
  signCount: number
  backedUp: boolean
  /** How browsers can reach the authenticator. */
  transports: string[]
}

const COLUMNS = 'id, created, last_used as "lastUsed", name, backed_up as "backedUp"'
const CREDENTIAL = `credential_id as "credentialId", public_key as "publicKey", sign_count as "signCount",
  backed_up as "backedUp", transports`

/** Returns a page of an account's passkeys, newest first. */
export async function page(pool: Pool, accountId: string, cursor: Cursor | undefined): Promise<Page<Passkey>> {
  const conditions = ['account_id = :accountId']
  return pageOf(pool, { table: 'passkeys', columns: COLUMNS, conditions, bindings: { accountId } }, cursor)
}

export async function count(db: Db, accountId: string): Promise<number> {
  const sql = 'select count(*) as n from passkeys where account_id = :accountId'
  return (await one<{ n: number }>(db, sql, { accountId })).n
}

export async function find(db: Db, accountId: string, id: string): Promise<Passkey | undefined> {
  const sql = `select ${COLUMNS} from passkeys where id = :id and account_id = :accountId`
  return maybeOne(db, sql, { id, accountId })
}

/** Returns the credentials of an account. */
export async function credentials(db: Db, accountId: string): Promise<Credential[]> {
  return query(db, `select ${CREDENTIAL} from passkeys where account_id = :accountId order by created, id`, {
    accountId,
  })
}

/** Returns the passkey with this credential, of any account. */
export async function withCredential(
  db: Db,
  credentialId: Buffer,
): Promise<(Credential & { id: string; accountId: string; name: string }) | undefined> {
  const sql = `select id, account_id as "accountId", name, ${CREDENTIAL} from passkeys where credential_id = :credentialId`
  return maybeOne(db, sql, { credentialId })
}

/** @throws Invalid if the account has a passkey of this name, or some account has the credential, like `insert` */
export async function refuseTaken(
  db: Db,
  { accountId, name, credentialId }: { accountId: string; name: string; credentialId: Buffer },
): Promise<void> {
  if ((await withCredential(db, credentialId)) !== undefined)
    throw violationError({ constraint: 'passkeys_credential' })!
  const sql = 'select from passkeys where account_id = :accountId and name = :name'
  if ((await query(db, sql, { accountId, name })).length > 0) throw violationError({ constraint: 'passkeys_name' })!
}

export async function insert(
  trx: Db,
  passkey: Credential & { accountId: string; name: string; now: Timestamp },
): Promise<Passkey> {
  return one(
    trx,
    `insert into passkeys (account_id, created, name, credential_id, public_key, sign_count, backed_up, transports)
     values (:accountId, :now, :name, :credentialId, :publicKey, :signCount, :backedUp, :transports)
     returning ${COLUMNS}`,
    { ...passkey },
  )
}

export async function rename(db: Db, accountId: string, id: string, name: string): Promise<Passkey | undefined> {
  const sql = `update passkeys set name = :name where id = :id and account_id = :accountId returning ${COLUMNS}`
  return maybeOne(db, sql, { id, accountId, name })
}

/** Notes a signature, unless its counter has not grown; a counter that stays 0 is none. Returns whether it did. */
export async function use(
  trx: Db,
  id: string,
  { signCount, backedUp }: Pick<Credential, 'signCount' | 'backedUp'>,
  now: Timestamp,
): Promise<boolean> {
  const used = await query(
    trx,
    `update passkeys set sign_count = :signCount, backed_up = :backedUp, last_used = :now
     where id = :id and (sign_count < :signCount or sign_count = 0 and :signCount = 0) returning id`,
    { id, signCount, backedUp, now },
  )
  return used.length > 0
}

/** Deletes a passkey of the account, if it exists. Returns true if it did. */
export async function remove(trx: Db, accountId: string, id: string): Promise<boolean> {
  const sql = 'delete from passkeys where id = :id and account_id = :accountId returning id'
  return (await query(trx, sql, { id, accountId })).length > 0
}

/** Deletes all passkeys of the account. Returns their ids. */
export async function removeAll(trx: Db, accountId: string): Promise<string[]> {
  const sql = 'delete from passkeys where account_id = :accountId returning id'
  return (await query<{ id: string }>(trx, sql, { accountId })).map(({ id }) => id)
}
