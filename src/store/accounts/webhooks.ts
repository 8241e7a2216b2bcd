import type { Pool } from 'pg'
import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'

/** Why a webhook is told nothing more (contract §22.4). */
export const REASONS = ['request', 'gone', 'failing', 'backlog', 'rights', 'handed_over'] as const
export type Reason = (typeof REASONS)[number]

/** What an account chooses of a webhook. */
export interface WebhookSettings {
  url: string
  events: string[]
  /** The names of the only domains that it hears of; null: all. */
  domains: string[] | null
}

/** An address that is told what happens in an account. */
export interface Webhook extends WebhookSettings {
  id: string
  created: Timestamp
  /** The first failure since the last success; null: there is none. */
  failingSince: Timestamp | null
  /** When it is tried again; null: at once. */
  retryAt: Timestamp | null
  disabled: Timestamp | null
  reason: Reason | null
}

const COLUMNS = `id, created, url, events, domains, failing_since as "failingSince", retry_at as "retryAt", disabled, reason`

/** Forgets the failures. */
const WELL = 'failing_since = null, failures = 0, retry_at = null'

/** Returns a page of an account's webhooks, newest first. */
export async function page(pool: Pool, accountId: string, cursor: Cursor | undefined): Promise<Page<Webhook>> {
  const conditions = ['account_id = :accountId']
  return pageOf(pool, { table: 'webhooks', columns: COLUMNS, conditions, bindings: { accountId } }, cursor)
}

export async function count(db: Db, accountId: string): Promise<number> {
  const sql = 'select count(*) as n from webhooks where account_id = :accountId'
  return (await one<{ n: number }>(db, sql, { accountId })).n
}

export async function find(db: Db, accountId: string, id: string): Promise<Webhook | undefined> {
  const sql = `select ${COLUMNS} from webhooks where id = :id and account_id = :accountId`
  return maybeOne(db, sql, { id, accountId })
}

/** Acts like `find`, and locks it until the transaction ends. */
export async function lock(trx: Db, accountId: string, id: string): Promise<Webhook | undefined> {
  const sql = `select ${COLUMNS} from webhooks where id = :id and account_id = :accountId for no key update`
  return maybeOne(trx, sql, { id, accountId })
}

/** @param webhook.memberId the membership with which it ends */
export async function insert(
  trx: Db,
  webhook: WebhookSettings & { accountId: string; memberId: string | null; now: Timestamp },
): Promise<Webhook> {
  return one(
    trx,
    `insert into webhooks (account_id, member_id, created, url, events, domains)
     values (:accountId, :memberId, :now, :url, :events, :domains) returning ${COLUMNS}`,
    { ...webhook },
  )
}

/** Changes a webhook, and forgets its failures. @param memberId undefined: the membership with which it ends stays */
export async function change(
  trx: Db,
  id: string,
  settings: WebhookSettings,
  memberId: string | null | undefined,
): Promise<Webhook> {
  return one(
    trx,
    `update webhooks set url = :url, events = :events, domains = :domains, ${WELL},
       member_id = case when :isMoved then cast(:memberId as uuid) else member_id end
     where id = :id returning ${COLUMNS}`,
    { id, ...settings, isMoved: memberId !== undefined, memberId: memberId ?? null },
  )
}

/** Tells a webhook what happens from now on. */
export async function enable(trx: Db, id: string): Promise<void> {
  await query(trx, 'update webhooks set disabled = null, reason = null where id = :id', { id })
}

/** Returns the webhooks of an account that are not disabled. */
export async function enabled(db: Db, accountId: string): Promise<{ id: string; accountId: string }[]> {
  const sql = 'select id, account_id as "accountId" from webhooks where account_id = :accountId and disabled is null'
  return query(db, sql, { accountId })
}

/** Tells a webhook nothing more: not even what waits. Returns undefined if it was told nothing before. */
export async function disable(
  trx: Db,
  id: string,
  reason: Reason,
  now: Timestamp,
): Promise<{ accountId: string; url: string } | undefined> {
  return maybeOne(
    trx,
    `with waiting as (
       update webhook_deliveries set status = 'failed', problem = coalesce(problem, 'The webhook was disabled.')
       where webhook_id = :id and status = 'waiting'
     )
     update webhooks set disabled = :now, reason = :reason, ${WELL} where id = :id and disabled is null
     returning account_id as "accountId", url`,
    { id, reason, now },
  )
}

/** Disables all webhooks of an account. */
export async function disableAll(trx: Db, accountId: string, reason: Reason, now: Timestamp): Promise<void> {
  const sql = 'select id from webhooks where account_id = :accountId and disabled is null order by id for no key update'
  for (const { id } of await query<{ id: string }>(trx, sql, { accountId })) await disable(trx, id, reason, now)
}

/** Lets what waits be tried at once. */
export async function hasten(trx: Db, id: string): Promise<void> {
  await query(trx, 'update webhooks set retry_at = null where id = :id', { id })
}

/** Deletes a webhook of the account with all that belongs to it, if it exists. Returns true if it did. */
export async function remove(trx: Db, accountId: string, id: string): Promise<boolean> {
  const sql = 'delete from webhooks where id = :id and account_id = :accountId returning id'
  return (await query(trx, sql, { id, accountId })).length > 0
}

/** Adds a secret, encrypted. The one of before still signs until `expires`; earlier ones end. */
export async function addSecret(trx: Db, id: string, secret: Buffer, expires: Timestamp): Promise<void> {
  await query(trx, 'delete from webhook_secrets where webhook_id = :id and expires is not null', { id })
  await query(trx, 'update webhook_secrets set expires = :expires where webhook_id = :id', { id, expires })
  await query(trx, 'insert into webhook_secrets (webhook_id, secret) values (:id, :secret)', { id, secret })
}

/** Returns the encrypted secrets that sign now, the present one first. */
export async function secrets(db: Db, id: string, now: Timestamp): Promise<Buffer[]> {
  const sql = `select secret from webhook_secrets where webhook_id = :id and (expires is null or expires > :now)
    order by expires nulls first`
  return (await query<{ secret: Buffer }>(db, sql, { id, now })).map(({ secret }) => secret)
}
