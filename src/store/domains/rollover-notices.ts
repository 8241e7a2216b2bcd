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

/** The notices of an account that a mail tells. */
export interface Told {
  notices: Notice[]
  /** How many there are in all. */
  count: number
  /** Those that need no other mail: these, earlier ones of their domains, and those of domains that are gone. */
  ids: number[]
}

/**
 * Returns the notices of an account, by domain: the last ones of each, in their order. Domains come in the order of their
 * age, so that nobody who makes domains can push those that were there before out of a mail.
 * @param most of each domain, and of all
 */
export async function ofAccount(db: Db, accountId: string, most: { each: number; all: number }): Promise<Told> {
  const rows = await query<Notice & Omit<Told, 'notices'>>(
    db,
    `with every as (
       select notices.*, domains.created,
         row_number() over (partition by notices.name order by notices.id desc) as place
       from rollover_notices as notices left join domains on domains.name = notices.name and owner_id = account_id
       where account_id = :accountId
     ), told as (
       select * from every where place <= :each order by created nulls last, name, id limit :all
     )
     select id, name, happened, event, token, email, (select cast(count(*) as integer) from every) as count,
       array(select id from every where created is null or id in (select id from told)
         or (place > :each and name in (select name from told))) as ids
     from told order by created nulls last, name, id`,
    { accountId, ...most },
  )
  const [{ count, ids } = { count: 0, ids: [] }] = rows
  return { notices: rows, count, ids }
}

/** Removes notices. */
export async function remove(trx: Db, ids: number[]): Promise<void> {
  await query(trx, 'delete from rollover_notices where id = any (:ids)', { ids })
}

/** Lets the notices of an account wait until this time. */
export async function postpone(trx: Db, accountId: string, time: Timestamp): Promise<void> {
  await query(trx, 'update rollover_notices set due = :time where account_id = :accountId', { accountId, time })
}
