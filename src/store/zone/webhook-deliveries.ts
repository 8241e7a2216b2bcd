import type { Pool } from 'pg'
import type { Timestamp } from '../../time.ts'
import type { Webhook } from '../accounts/webhooks.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'
import { NAME, TYPE } from './activity.ts'

/** What became of a delivery, or that it waits; `gone`: what it is about went before it could be delivered. */
export const STATUSES = ['waiting', 'delivered', 'failed', 'gone'] as const

/** What a webhook is told. */
export interface Delivery {
  id: string
  /** When it happened. */
  created: Timestamp
  /** The id of the entry in the activity; null: a test. */
  entryId: string | null
  type: string
  domain: string | null
  status: (typeof STATUSES)[number]
  attempts: number
  /** The time of the last attempt. */
  attempted: Timestamp | null
  /** The status of the last answer; null: there was none. */
  answer: number | null
  /** Why the last attempt failed. */
  problem: string | null
}

const COLUMNS = 'id, created, entry_id as "entryId", type, domain, status, attempts, attempted, answer, problem'

/** Returns a page of the deliveries of a webhook, newest first. */
export async function page(pool: Pool, webhookId: string, cursor: Cursor | undefined): Promise<Page<Delivery>> {
  const conditions = ['webhook_id = :webhookId']
  return pageOf(pool, { table: 'webhook_deliveries', columns: COLUMNS, conditions, bindings: { webhookId } }, cursor)
}

export async function count(db: Db, webhookId: string): Promise<number> {
  const sql = 'select count(*) as n from webhook_deliveries where webhook_id = :webhookId'
  return (await one<{ n: number }>(db, sql, { webhookId })).n
}

/** Adds a test, after all that waits. */
export async function addTest(trx: Db, webhookId: string, now: Timestamp): Promise<Delivery> {
  return one(
    trx,
    `insert into webhook_deliveries (webhook_id, created, type) values (:webhookId, :now, 'test') returning ${COLUMNS}`,
    { webhookId, now },
  )
}

/** Lets something be delivered again, in its place of the order. Returns undefined if there is no such delivery. */
export async function repeat(trx: Db, webhookId: string, id: string): Promise<Delivery | undefined> {
  const sql = `update webhook_deliveries set status = 'waiting', problem = null
    where id = :id and webhook_id = :webhookId returning ${COLUMNS}`
  return maybeOne(trx, sql, { id, webhookId })
}

/** The groups of types that webhooks hear of, by SQL's `like`; the last one has what the others have not (contract §22.1). */
export interface Groups {
  /** Arrays of the same length: a type, and its group. */
  types: string[]
  groups: string[]
  /** The group of all other types. */
  other: string
}

/**
 * Makes the deliveries of the oldest entries that none are made of, for the webhooks that want to hear of them. Only one
 * process may do so at a time: so their order is that of the entries of a domain, which are committed in their order.
 * @returns the webhooks that have got some and may be told now, and whether there were as many entries as `limit`
 */
export async function make(
  trx: Db,
  { types, groups, other }: Groups,
  limit: number,
  now: Timestamp,
): Promise<{ told: { id: string; accountId: string }[]; hasMore: boolean }> {
  const made = await query<{ id: string | null; accountId: string; retryAt: Timestamp | null; n: number }>(
    trx,
    `with taken as (
       delete from webhook_events
       where entry_id in (select entry_id from webhook_events order by entry_id limit :limit) returning entry_id
     ),
     entries as (
       select history.id, history.created, account_id, ${TYPE} as type, ${NAME} as domain
       from history where id in (select entry_id from taken)
     ),
     made as (
       insert into webhook_deliveries (webhook_id, created, entry_id, type, domain)
       select webhooks.id, entries.created, entries.id, type, domain
       from entries join webhooks on webhooks.account_id = entries.account_id and webhooks.disabled is null
         and (webhooks.domains is null or domain = any (webhooks.domains))
         and coalesce((select "group" from unnest(cast(:types as text[]), cast(:groups as text[])) as known (type, "group")
           where known.type = entries.type), :other) = any (webhooks.events)
       order by entries.id
       returning webhook_id
     )
     select webhooks.id, account_id as "accountId", retry_at as "retryAt", (select count(*) from taken) as n
     from (select distinct webhook_id from made) as told right join (select) as always on true
       left join webhooks on webhooks.id = webhook_id`,
    { types, groups, other, limit },
  )
  const told = made.flatMap(({ id, accountId, retryAt }) =>
    id !== null && (retryAt === null || retryAt <= now) ? { id, accountId } : [],
  )
  return { told, hasMore: made[0]!.n >= limit }
}

/** Forgets all entries that no deliveries are made of. */
export async function forget(db: Db): Promise<void> {
  await query(db, 'delete from webhook_events')
}

/** Returns the webhooks for which something waits, and for which no work is stored. */
export async function forgotten(db: Db): Promise<{ id: string; accountId: string }[]> {
  return query(
    db,
    `select id, account_id as "accountId" from webhooks where disabled is null
       and exists (select from webhook_deliveries where webhook_id = webhooks.id and status = 'waiting')
       and not exists (select from work where kind = 'webhook' and subject = cast(webhooks.id as text) and due is not null)`,
  )
}

/** What is to be told next, to whom. */
export interface Next extends Pick<Webhook, 'url' | 'failingSince' | 'retryAt'> {
  accountId: string
  failures: number
  /** False if the account is disabled. */
  active: boolean
  /** False if who chose the address must not read the whole account any more. */
  allowed: boolean
  /** null: nothing waits. */
  delivery: Pick<Delivery, 'id' | 'entryId' | 'created' | 'attempts'> | null
}

/** Returns what a webhook is to be told next; undefined if there is no such webhook, or it is disabled. */
export async function next(db: Db, webhookId: string): Promise<Next | undefined> {
  const row = await maybeOne<Omit<Next, 'delivery'> & { [key: string]: unknown; id: string | null }>(
    db,
    `select account_id as "accountId", url, failing_since as "failingSince", failures, retry_at as "retryAt",
       accounts.state = 'active' as active,
       member_id is null or exists (
         select from members join accounts person on person.id = members.person_id
         where members.id = member_id and role = 'admin' and person.state = 'active') as allowed,
       first.*
     from webhooks join accounts on accounts.id = account_id left join lateral (
       select id, entry_id as "entryId", created, attempts from webhook_deliveries
       where webhook_id = webhooks.id and status = 'waiting' order by position limit 1
     ) as first on true
     where webhooks.id = :webhookId and disabled is null`,
    { webhookId },
  )
  if (row === undefined) return undefined
  return { ...row, delivery: row.id === null ? null : (row as unknown as Next['delivery']) }
}

/** Reports whether more than `most` deliveries wait for a webhook. */
export async function isFull(db: Db, webhookId: string, most: number): Promise<boolean> {
  const sql = `select from webhook_deliveries where webhook_id = :webhookId and status = 'waiting'
    order by position offset ${most} limit 1`
  return (await query(db, sql, { webhookId })).length > 0
}

/** Notes what came of an attempt at a delivery. It does not wait any longer if its webhook was disabled meanwhile. */
export async function note(
  trx: Db,
  id: string,
  outcome: Pick<Delivery, 'status' | 'answer' | 'problem'>,
  now: Timestamp,
): Promise<void> {
  await query(
    trx,
    `update webhook_deliveries set answer = :answer, problem = :problem, attempts = attempts + 1, attempted = :now,
       status = case when :status = 'waiting'
         and exists (select from webhooks where webhooks.id = webhook_id and disabled is not null)
         then 'failed' else :status end
     where id = :id`,
    { id, ...outcome, now },
  )
}

/** Notes that what a delivery is about is gone. */
export async function noteGone(db: Db, id: string): Promise<void> {
  await query(db, `update webhook_deliveries set status = 'gone' where id = :id`, { id })
}

/** Notes a failure of a webhook, and when it is tried again, unless its address has changed. Returns whether it has not. */
export async function noteFailure(
  trx: Db,
  { id, url, retryAt, now }: { id: string; url: string; retryAt: Timestamp; now: Timestamp },
): Promise<boolean> {
  const failing = await query(
    trx,
    `update webhooks set failing_since = coalesce(failing_since, :now), failures = failures + 1, retry_at = :retryAt
     where id = :id and url = :url and disabled is null returning id`,
    { id, url, retryAt, now },
  )
  return failing.length > 0
}

/** Notes a success of a webhook that failed before. */
export async function noteSuccess(trx: Db, id: string): Promise<void> {
  const sql = `update webhooks set failing_since = null, failures = 0, retry_at = null where id = :id`
  await query(trx, sql, { id })
}

/** Deletes the deliveries that do not wait and are older than this time, or not among the newest of their webhook. */
export async function removeOld(db: Db, before: Timestamp, kept: number): Promise<void> {
  await query(
    db,
    // Materialized, so that the deliveries of a webhook are counted once, and not for each of them.
    `with webhooks as materialized (
       select id, (select position from webhook_deliveries where webhook_id = webhooks.id
         order by position desc offset ${kept} limit 1) as "lastTooMany"
       from webhooks
     )
     delete from webhook_deliveries using webhooks
     where webhook_id = webhooks.id and status <> 'waiting'
       and (webhook_deliveries.created < :before or position <= "lastTooMany")`,
    { before },
  )
}
