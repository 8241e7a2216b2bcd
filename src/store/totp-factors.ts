import type { Pool } from 'pg'
import type { Timestamp } from '../time.ts'
import { violated } from './constraints.ts'
import { query, type Db } from './database.ts'
import * as pages from './pagination.ts'
import type { Cursor, Page } from './pagination.ts'

/** A second factor of an account. */
export interface Factor {
  id: string
  created: Timestamp
  /** null: not used yet. */
  lastUsed: Timestamp | null
  name: string
}

/** What it takes to judge a code of a factor. */
export interface Verifiable {
  accountId: string
  isUsed: boolean
  secret: Buffer
  /** The latest time step whose code was accepted. */
  lastStep: number | null
}

const COLUMNS = 'id, created, last_used as "lastUsed", name'

/** A page of an account's factors, newest first. */
export async function page(pool: Pool, accountId: string, cursor: Cursor | undefined): Promise<Page<Factor>> {
  const conditions = ['account_id = :accountId']
  return pages.page<Factor>(
    pool,
    { table: 'totp_factors', columns: COLUMNS, conditions, bindings: { accountId } },
    cursor,
  )
}

export async function count(db: Db, accountId: string): Promise<number> {
  const sql = 'select count(*) as count from totp_factors where account_id = :accountId'
  const [row] = await query<{ count: number }>(db, sql, { accountId })
  return row!.count
}

export async function find(db: Db, accountId: string, id: string): Promise<Factor | undefined> {
  const sql = `select ${COLUMNS} from totp_factors where id = :id and account_id = :accountId`
  const [factor] = await query<Factor>(db, sql, { id, accountId })
  return factor
}

/** @throws Invalid as adding a factor of this name would */
export async function refuseTakenName(db: Db, accountId: string, name: string): Promise<void> {
  const sql = 'select from totp_factors where account_id = :accountId and name = :name'
  if ((await query(db, sql, { accountId, name })).length > 0) throw violated({ constraint: 'totp_factors_name' })!
}

/** Whether the account has MFA enabled: a factor that has been used (contract §12). */
export async function isMfaEnabled(db: Db, accountId: string): Promise<boolean> {
  const sql = 'select from totp_factors where account_id = :accountId and last_used is not null limit 1'
  return (await query(db, sql, { accountId })).length > 0
}

export async function insert(
  trx: Db,
  factor: { accountId: string; name: string; secret: Buffer; now: Timestamp },
): Promise<Factor> {
  const [row] = await query<Factor>(
    trx,
    `insert into totp_factors (account_id, created, name, secret) values (:accountId, :now, :name, :secret)
     returning ${COLUMNS}`,
    factor,
  )
  return row!
}

export async function rename(db: Db, accountId: string, id: string, name: string): Promise<Factor | undefined> {
  const [factor] = await query<Factor>(
    db,
    `update totp_factors set name = :name where id = :id and account_id = :accountId returning ${COLUMNS}`,
    { id, accountId, name },
  )
  return factor
}

/** Removes a factor of the account, if there is one of this id; whether it had been used. */
export async function remove(trx: Db, accountId: string, id: string): Promise<boolean> {
  const [factor] = await query<{ isUsed: boolean }>(
    trx,
    `delete from totp_factors where id = :id and account_id = :accountId returning last_used is not null as "isUsed"`,
    { id, accountId },
  )
  return factor?.isUsed ?? false
}

/** The factor of this id, whoever has it. */
export async function findToVerify(db: Db, id: string): Promise<Verifiable | undefined> {
  const [factor] = await query<Verifiable>(
    db,
    `select account_id as "accountId", last_used is not null as "isUsed", secret, last_step as "lastStep"
     from totp_factors where id = :id`,
    { id },
  )
  return factor
}

/**
 * Accepts the code of a step, unless one of this step or a later one was accepted before: then undefined.
 * @returns whether it is the factor's first
 */
export async function use(trx: Db, id: string, step: number, now: Timestamp): Promise<boolean | undefined> {
  const [used] = await query<{ isFirst: boolean }>(
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
