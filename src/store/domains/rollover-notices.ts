import type { Timestamp } from '../../time.ts'
import { type Db, query } from '../database.ts'

/** What the owner of a domain is told of a rollover; `end`: the former keys are gone. */
export type Event = 'begin' | 'return' | 'force' | 'cancel' | 'end'

/** Something that happened to a rollover, and is not in a mail to the owner of the domain yet. */
export interface Notice {
  id: number
  /** The name of the domain. */
  name: string
  happened: Timestamp
  event: Event
  /** The name of the token that did it; null: the operator, or the service. */
  token: string | null
  /** The e-mail address of the account of the token, if that is another account; else null. */
  email: string | null
}

/** Keeps what happened to a rollover for a mail to the owner of the domain. */
export async function add(
  trx: Db,
  { ownerId, name }: { ownerId: string; name: string },
  author: { ownerId: string | null; tokenId: string | null },
  { event, now }: { event: Event; now: Timestamp },
): Promise<void> {
  await query(
    trx,
    `insert into rollover_notices (account_id, name, happened, event, token, email, due)
     values (:ownerId, :name, :now, :event, (select tokens.name from tokens where id = :tokenId),
       (select email from accounts where id = :authorId and id <> :ownerId), :now)`,
    { ownerId, name, event, now, tokenId: author.tokenId, authorId: author.ownerId },
  )
}

/** Returns the accounts that are to get a mail now, those that have waited longest first. */
export async function due(db: Db, now: Timestamp, limit: number): Promise<string[]> {
  const sql = `select account_id as id from rollover_notices where due <= :now
    group by account_id order by min(due) limit :limit`
  return (await query<{ id: string }>(db, sql, { now, limit })).map(({ id }) => id)
}

/**
 * Returns the notices of an account, by domain: the last ones of each, in their order.
 * @param most of each domain, and of all
 */
export async function ofAccount(
  db: Db,
  accountId: string,
  most: { each: number; all: number },
): Promise<{ notices: Notice[]; count: number; last: number }> {
  const rows = await query<Notice & { place: number; count: number; last: number }>(
    db,
    `select id, name, happened, event, token, email, count, last from (
       select *, row_number() over (partition by name order by id desc) as place,
         count(*) over () as count, max(id) over () as last
       from rollover_notices where account_id = :accountId
     ) as notices where place <= :each order by min(id) over (partition by name), id limit :all`,
    { accountId, ...most },
  )
  return { notices: rows, count: rows[0]?.count ?? 0, last: rows[0]?.last ?? 0 }
}

/** Removes the notices of an account up to one of them. */
export async function remove(trx: Db, accountId: string, last: number): Promise<void> {
  await query(trx, 'delete from rollover_notices where account_id = :accountId and id <= :last', { accountId, last })
}

/** Lets the notices of an account wait until this time. */
export async function postpone(trx: Db, accountId: string, time: Timestamp): Promise<void> {
  await query(trx, 'update rollover_notices set due = :time where account_id = :accountId', { accountId, time })
}
