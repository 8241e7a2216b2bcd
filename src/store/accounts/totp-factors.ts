import type { Pool } from 'pg'
import type { Timestamp } from '../../time.ts'
import { violationError } from '../connections/constraints.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'

/** A TOTP factor of an account. */
export interface Factor {
  id: string
  created: Timestamp
  /** null: never. */
  lastUsed: Timestamp | null
  name: string
}

/** The members of a factor that are needed to verify a code. */
export interface Verifiable {
  id: string
  accountId: string
  isUsed: boolean
  /** The encrypted secret. */
  secret: Buffer
  /** The latest time step whose code was accepted. */
  lastStep: number | null
}

const COLUMNS = 'id, created, last_used as "lastUsed", name'

/** Returns a page of an account's factors, newest first. */
export async function page(pool: Pool, accountId: string, cursor: Cursor | undefined): Promise<Page<Factor>> {
  const list = {
    table: 'totp_factors',
    columns: COLUMNS,
    conditions: ['account_id = :accountId'],
    bindings: { accountId },
  }
  return pageOf(pool, list, cursor)
}

export async function count(db: Db, accountId: string): Promise<number> {
  const sql = 'select count(*) as n from totp_factors where account_id = :accountId'
  return (await one<{ n: number }>(db, sql, { accountId })).n
}

export async function find(db: Db, accountId: string, id: string): Promise<Factor | undefined> {
  const sql = `select ${COLUMNS} from totp_factors where id = :id and account_id = :accountId`
  return maybeOne(db, sql, { id, accountId })
}

/** @throws Invalid if the account has a factor of this name, like `insert` */
export async function refuseTakenName(db: Db, accountId: string, name: string): Promise<void> {
  const sql = 'select from totp_factors where account_id = :accountId and name = :name'
  if ((await query(db, sql, { accountId, name })).length > 0) throw violationError({ constraint: 'totp_factors_name' })!
}

/** @param factor its secret is encrypted */
export async function insert(
  trx: Db,
  factor: { id: string; accountId: string; name: string; secret: Buffer; now: Timestamp },
): Promise<Factor> {
  return one(
    trx,
    `insert into totp_factors (id, account_id, created, name, secret) values (:id, :accountId, :now, :name, :secret)
     returning ${COLUMNS}`,
    factor,
  )
}

export async function rename(db: Db, accountId: string, id: string, name: string): Promise<Factor | undefined> {
  const sql = `update totp_factors set name = :name where id = :id and account_id = :accountId returning ${COLUMNS}`
  return maybeOne(db, sql, { id, accountId, name })
}

/** Deletes a factor of the account, if it exists. Returns true if it had been used. */
export async function remove(trx: Db, accountId: string, id: string): Promise<boolean> {
  const factor = await maybeOne<{ isUsed: boolean }>(
    trx,
    `delete from totp_factors where id = :id and account_id = :accountId returning last_used is not null as "isUsed"`,
    { id, accountId },
  )
  return factor?.isUsed ?? false
}

/** Deletes all factors of the account. Returns their ids. */
export async function removeAll(trx: Db, accountId: string): Promise<string[]> {
  const sql = 'delete from totp_factors where account_id = :accountId returning id'
  return (await query<{ id: string }>(trx, sql, { accountId })).map(({ id }) => id)
}

const TO_VERIFY = `id, account_id as "accountId", last_used is not null as "isUsed", secret, last_step as "lastStep"`

/** Returns the factor with this id, of any account. */
export async function findToVerify(db: Db, id: string): Promise<Verifiable | undefined> {
  return maybeOne(db, `select ${TO_VERIFY} from totp_factors where id = :id`, { id })
}

/** Returns the factors of an account that have been used: MFA is enabled if any exists (contract §12). */
export async function used(db: Db, accountId: string): Promise<Verifiable[]> {
  const sql = `select ${TO_VERIFY} from totp_factors where account_id = :accountId and last_used is not null`
  return query(db, sql, { accountId })
}

/**
 * Accepts the code of a time step, unless a code of this or a later step was accepted before: then undefined.
 * @returns true if it is the factor's first code
 */
export async function use(trx: Db, id: string, step: number, now: Timestamp): Promise<boolean | undefined> {
  const used = await maybeOne<{ isFirst: boolean }>(
    trx,
    `with factor as (
       select id, last_used is null as "isFirst" from totp_factors
       where id = :id and coalesce(last_step < :step, true) for no key update
     )
     update totp_factors set last_step = :step, last_used = :now from factor where totp_factors.id = factor.id
     returning "isFirst"`,
    { id, step, now },
  )
  return used?.isFirst
}
