import type { Pool } from 'pg'
import type { Timestamp } from '../../time.ts'
import { type Db, one, query, transaction } from '../database.ts'
import { idAt, OCTETS } from './history.ts'

// The octets of histories, which count for the accounts of the domains, also of deleted ones (contract §15.5). What adds
// or deletes entries holds the lock of the domain's row, and counts there.

/** Entries that one statement deletes at most, and their octets, but for one entry that has more. */
const BATCH = 1_000
const BATCH_OCTETS = 64 * 1024 * 1024

/** Histories of an account that are made smaller in one go. */
const EXCESSES = 1_000

/** Histories that are counted at once. */
const COUNTED = 100

/** The octets of all histories. */
export interface Sum {
  octets: number
  /** How many of them are not counted yet. */
  uncounted: number
  /** The accounts whose histories are larger than their limits. */
  above: { ownerId: string; limit: number }[]
}

/** Adds up the histories. @param limit of accounts without their own */
export async function sum(db: Db, limit: number): Promise<Sum> {
  return one(
    db,
    `with counted as (
       select owner_id, sum(history_octets) as octets, count(*) - count(history_octets) as uncounted
       from (
         select owner_id, history_octets from domains union all select owner_id, history_octets from deleted_domains
       ) as histories group by owner_id
     ), above as (
       select owner_id as "ownerId", coalesce(limit_history_octets, :limit) as limit
       from counted join accounts on accounts.id = owner_id where octets > coalesce(limit_history_octets, :limit)
     )
     select cast(coalesce(sum(octets), 0) as bigint) as octets, cast(coalesce(sum(uncounted), 0) as bigint) as uncounted,
       (select coalesce(json_agg(above), '[]') from above) as above
     from counted`,
    { limit },
  )
}

/** The tables that have histories. */
type Owner = 'domains' | 'deleted_domains'
const OWNERS: Owner[] = ['domains', 'deleted_domains']

/** A history that has to become smaller. */
export interface Excess {
  id: number
  owner: Owner
  /** The octets that it can keep. */
  level: number
}

/**
 * Returns the largest histories of an account, some at most, the largest one first, with the octets that they can keep so
 * that all together have at most `limit`: the same for all of them, and no less than any other one has.
 */
export async function excesses(db: Db, ownerId: string, limit: number): Promise<Excess[]> {
  const histories = OWNERS.map(
    (owner) => `select id, '${owner}' as owner, history_octets as octets from ${owner} where owner_id = :ownerId`,
  )
  return query(
    db,
    `with sorted as (
       select *, row_number() over larger as rank, sum(octets) over larger as sum, lead(octets, 1, 0) over larger as next,
         sum(octets) over () as total
       from (${histories.join(' union all ')}) as histories where octets > 0
       window larger as (order by octets desc, id)
     ),
     -- If those up to this rank keep the same, and the others all that they have.
     levels as (select *, floor((:limit - (total - sum)) / rank) as level from sorted),
     chosen as (select level from levels where level >= next order by rank limit 1)
     select id, owner, cast(chosen.level as bigint) as level from sorted, chosen
     where octets > chosen.level order by rank limit ${EXCESSES}`,
    { ownerId, limit },
  )
}

/** Takes octets of removed entries from those of their domains; null stays null. */
const less = (octets: string) => `history_octets = history_octets - least(history_octets, ${octets})`

/**
 * Deletes the oldest entries of a domain, some at most, until its history is as large as it can be; but not the newest
 * one of a domain that exists. The oldest one left says so.
 * @returns how many entries it deleted, and whether the history is still too large
 * @throws Busy if a write holds the domain for too long
 */
export async function trim(db: Db, { id, owner, level }: Excess): Promise<{ removed: number; exceeds: boolean }> {
  const newest = 'select id from history where domain_id = :id order by created desc, id desc limit 1'
  return one(
    db,
    `with locked as materialized (select history_octets as octets from ${owner} where id = :id for no key update),
       oldest as (
         select id, created, ${OCTETS} as octets from history where domain_id = :id order by created, id limit ${BATCH}
       ),
       summed as (select *, sum(octets) over (order by created, id) - octets as before from oldest),
       chosen as (
         select summed.* from summed, locked
         where before < locked.octets - :level and before < ${BATCH_OCTETS}
           ${owner === 'domains' ? `and id <> (${newest})` : ''}
       ),
       removed as (delete from history where id in (select id from chosen) returning ${OCTETS} as octets),
       last as (select created, id from chosen order by created desc, id desc limit 1),
       marked as (
         update history set trimmed = true where id = (
           select history.id from history, last
           where domain_id = :id and (history.created, history.id) > (last.created, last.id)
           order by history.created, history.id limit 1
         )
       ),
       counted as (update ${owner} set ${less('(select coalesce(sum(octets), 0) from removed)')} where id = :id)
     select count(*) as removed,
       coalesce((select octets from locked) - coalesce(sum(octets), 0) > :level, false) as exceeds from removed`,
    { id, level },
  )
}

/**
 * Deletes some entries that are older than this time, unless their domains are locked.
 * @param after the id of the last entry that the call before looked at
 * @returns that of the last entry that this one looked at; undefined: there are no others
 */
export async function removeBefore(db: Db, time: Timestamp, after: string): Promise<string | undefined> {
  const { last } = await one<{ last: string | null }>(
    db,
    `with found as (
         select id, domain_id, ${OCTETS} as octets from history
         where id > :after and id < :first order by id limit ${BATCH} for update skip locked
       ),
       summed as (select *, sum(octets) over (order by id) - octets as before from found),
       old as (select id, domain_id from summed where before < ${BATCH_OCTETS}),
       ${OWNERS.map(
         (owner) => `locked_${owner} as materialized (
         select id from ${owner} where id in (select domain_id from old) for no key update skip locked
       )`,
       ).join(', ')},
       removed as (
         delete from history where id in (
           select id from old where domain_id in (${OWNERS.map((owner) => `select id from locked_${owner}`).join(' union all ')})
           union all select id from old where domain_id is null
         ) returning domain_id, ${OCTETS} as octets
       ),
       gone as (select domain_id, sum(octets) as octets from removed group by domain_id),
       ${OWNERS.map(
         (owner) => `counted_${owner} as (
         update ${owner} set ${less('gone.octets')} from gone where id = domain_id
       )`,
       ).join(', ')}
     select (select id from old order by id desc limit 1) as last`,
    { after, first: idAt(time, Buffer.alloc(8)) },
  )
  return last ?? undefined
}

/** Counts the octets of histories that an older version made, unless their domains are locked. */
export async function count(pool: Pool, stopping?: AbortSignal): Promise<void> {
  for (const owner of OWNERS) {
    let after: number | undefined = 0
    while (after !== undefined && stopping?.aborted !== true) after = await countSome(pool, owner, after)
  }
}

/** Counts the histories of some domains. @returns the id of the last one; undefined: there are no others */
async function countSome(pool: Pool, owner: Owner, after: number): Promise<number | undefined> {
  return transaction(pool, async (trx) => {
    // A statement of its own: the next one sees all entries that were written before the locks.
    const locked = await query<{ id: number }>(
      trx,
      `select id from ${owner} where id > :after and history_octets is null
       order by id limit ${COUNTED} for no key update skip locked`,
      { after },
    )
    await query(
      trx,
      `update ${owner} set history_octets =
         coalesce((select sum(${OCTETS}) from history where domain_id = ${owner}.id), 0)
       where id = any (:ids)`,
      { ids: locked.map(({ id }) => id) },
    )
    return locked.at(-1)?.id
  })
}
