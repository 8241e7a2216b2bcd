import { once } from 'node:events'
import type { Pool } from 'pg'
import type { Timestamp } from '../time.ts'
import { type Db, one, query, together } from './database.ts'

// What is to be done later (architecture.md). `due` is by the clock of the service, claims are by that of the database.

/** Milliseconds for which a claim lasts unless it is renewed. */
export const CLAIM_TIME = 10_000

/** Something to be done. */
export interface NewWork {
  kind: string
  /** What it is done to, such as the id of a domain: of each kind there is one row for a subject. Default: a new UUID. */
  subject?: string
  /** The account whose share it is done in. */
  accountId?: string | undefined
  due: Timestamp
  payload?: unknown
}

/** Work that a process has claimed. */
export interface Claimed {
  id: number
  claim: string
  subject: string
  accountId: string | null
  due: Timestamp
  created: Timestamp
  /** The attempts since it was caused, this one included. */
  attempts: number
  payload: unknown
}

/** The channel on which the processes hear that work is due. Each notification takes a lock of the database until its commit. */
const CHANNEL = 'work'
const TELL = `pg_notify('${CHANNEL}', '')`

/** Whether no process does it. */
const FREE = '(claim is null or claimed_until < clock_timestamp())'

/**
 * Stores work, which is done once this transaction commits. Work that is stored already gets this time and payload; if it
 * is being done, it is done once more afterwards. The commit tells all processes.
 */
export async function add(trx: Db, work: NewWork[], now: Timestamp): Promise<void> {
  await query(
    trx,
    `with added as (
     insert into work (kind, subject, account_id, due, created, payload)
       select kind, coalesce(subject, cast(gen_random_uuid() as text)), "accountId", due, :now, payload
       from jsonb_to_recordset(cast(:work as jsonb))
         as work (kind text, subject text, "accountId" uuid, due timestamptz, payload jsonb)
       order by kind, subject
     on conflict (kind, subject) do update set account_id = excluded.account_id, payload = excluded.payload,
       created = excluded.created,
       attempts = case when work.claim is null then 0 else work.attempts end,
       due = case when work.claim is null then excluded.due else work.due end,
       again = case when work.claim is not null then excluded.due end
     returning id
     ) select ${TELL} from added limit 1`,
    { work: JSON.stringify(work), now },
  )
}

/** Lets all processes look. */
export async function tell(db: Db): Promise<void> {
  await query(db, `select ${TELL}`)
}

/**
 * Calls `heard` whenever processes are told to look, and first, because it has missed what they were told before.
 * @throws when the connection breaks, or the signal aborts
 */
export async function listen(pool: Pool, heard: () => void, signal: AbortSignal): Promise<void> {
  await together(pool, async (db) => {
    db.on('notification', heard)
    await Promise.all([once(db, 'end', { signal }), query(db, `listen ${CHANNEL}`).then(heard)])
    throw new Error('the connection has ended')
  })
}

/** What is found in tables of its own, and whether there is any. The clock of rollovers and marks is that of the database. */
const SCANNED = {
  marks: 'select from marks where retry_at <= now()',
  // The index has those that wait apart.
  delegations: 'select from delegations where (waits is null) = any (array[false, true]) and due <= :now',
  rollovers: '(select from rollovers) union all (select from rollover_notices)',
  catalog: 'select from catalog_members where gone or not listed',
  webhooks: 'select from webhook_events',
  standbys: 'select from standby_zones where due <= now()',
}

export type Scanned = keyof typeof SCANNED

const SCANS = Object.entries(SCANNED).map(
  ([kind, rows]) => `union all select '${kind}', cast(:now as timestamptz) where exists (${rows})`,
)

/** Returns when the first work of each of these kinds is due that no process does; and that of each scan, if it is now. */
export async function firstDue(db: Db, kinds: string[], now: Timestamp): Promise<{ kind: string; due: Timestamp }[]> {
  return query(
    db,
    `select kinds.kind, first.due from unnest(cast(:kinds as text[])) as kinds (kind) cross join lateral (
       select due from work where work.kind = kinds.kind and due is not null and ${FREE} order by due limit 1
     ) as first ${SCANS.join(' ')}`,
    { kinds, now },
  )
}

/** What a process may claim. */
export interface Share {
  kind: string
  limit: number
  /** The ids of the work that this process does: a claim of its own may have ended. */
  running: number[]
  /** The accounts that have their share; undefined: all work is done in the order of its times. */
  full: string[] | undefined
}

/** Claims work that is due, the longest due first; with `full`, one piece of each other account. */
export async function claim(db: Db, { kind, limit, running, full }: Share, now: Timestamp): Promise<Claimed[]> {
  const isDue = `kind = :kind and due <= :now and ${FREE} and id <> all (:running)`
  const firsts = `select id from (
      select distinct on (account_id) id, due from work
      where ${isDue} and (account_id is null or account_id <> all (cast(:full as uuid[]))) order by account_id, due
    ) as firsts order by due limit :limit`
  const claimed = await query<Claimed>(
    db,
    `update work set claim = gen_random_uuid(), attempts = attempts + 1,
       claimed_until = clock_timestamp() + ${CLAIM_TIME} * interval '1 millisecond'
     where id = any (array(
       select id from work where ${isDue} ${full === undefined ? '' : `and id in (${firsts})`}
       order by due limit :limit for update skip locked))
     returning id, claim, subject, account_id as "accountId", due, created, attempts, payload`,
    { kind, limit, running, now, ...(full === undefined ? {} : { full }) },
  )
  return claimed.sort((a, b) => (a.due < b.due ? -1 : 1))
}

/** Renews claims, but those whose rows others have locked, and returns the ids of the work. */
export async function renew(db: Db, claims: string[], ids: number[]): Promise<number[]> {
  const renewed = await query<{ id: number }>(
    db,
    `update work set claimed_until = clock_timestamp() + ${CLAIM_TIME} * interval '1 millisecond'
     where id = any (array(
       select id from work where id = any (:ids) and claim = any (cast(:claims as uuid[])) for update skip locked))
     returning id`,
    { ids, claims },
  )
  return renewed.map(({ id }) => id)
}

/** Deletes work that is done, unless another process has claimed it meanwhile. */
export async function finish(db: Db, { id, claim }: Claimed): Promise<void> {
  await query(
    db,
    `with done as (delete from work where id = :id and claim = :claim and again is null)
     update work set due = again, again = null, claim = null, claimed_until = null, attempts = 0, last_error = null
     where id = :id and claim = :claim and again is not null`,
    { id, claim },
  )
}

/**
 * Ends a claim, unless another process has claimed the work meanwhile.
 * @param next when it is due next, unless it was caused again; null: it is given up, without its payload
 */
export async function release(
  db: Db,
  { id, claim }: Claimed,
  next: { due: Timestamp | null; attempts: number; error: string | null },
): Promise<void> {
  await query(
    db,
    `update work set due = coalesce(again, :due), again = null, claim = null, claimed_until = null, last_error = :error,
       attempts = case when again is null then :attempts else 0 end,
       payload = case when coalesce(again, :due) is not null then payload end
     where id = :id and claim = :claim`,
    { id, claim, ...next },
  )
}

/** Deletes the work that was given up, and is older than this time. */
export async function removeGivenUp(db: Db, before: Timestamp): Promise<void> {
  await query(db, 'delete from work where due is null and created < :before', { before })
}

/** Work, for the operator. */
export interface Shown extends Pick<Claimed, 'subject' | 'accountId' | 'created' | 'attempts'> {
  kind: string
  due: Timestamp | null
  /** Until when a process does it; null: none does. */
  claimed: Timestamp | null
  lastError: string | null
}

/** Returns the work of a kind, or all, the longest due first, and what was given up last. */
export async function list(db: Db, kind: string | null): Promise<Shown[]> {
  return query(
    db,
    `select kind, subject, account_id as "accountId", due, case when not ${FREE} then claimed_until end as claimed, created, attempts,
       last_error as "lastError"
     from work where kind = coalesce(:kind, kind) order by due nulls last, id`,
    { kind },
  )
}

/** Makes all work of a kind, or of all kinds, due now, and returns its number; not what was given up. */
export async function hasten(db: Db, kind: string | null, now: Timestamp): Promise<number> {
  const sql = `update work set due = :now where kind = coalesce(:kind, kind) and due is not null returning ${TELL}`
  return (await query(db, sql, { kind, now })).length
}

/** Deletes all work of a kind, and returns its number. */
export async function drop(db: Db, kind: string): Promise<number> {
  return (await query(db, 'delete from work where kind = :kind returning id', { kind })).length
}

/** Counts the work of a kind that waits, and the age of the oldest in seconds. */
export async function state(db: Db, kind: string): Promise<{ number: number; age: number }> {
  const sql = `select count(*) as number, cast(coalesce(extract(epoch from now() - min(created)), 0) as float8) as age
    from work where kind = :kind and due is not null`
  return one(db, sql, { kind })
}
