import type { Timestamp } from '../../time.ts'
import { type Db, query } from '../database.ts'
import type { Domain } from './domains.ts'

// What the operator does to domains of an account.

/** Sets the minimum TTL of a domain; returns false if the domain does not exist. */
export async function setMinimumTtl(db: Db, name: string, seconds: number): Promise<boolean> {
  const sql = 'update domains set minimum_ttl = :seconds where name = :name returning id'
  return (await query(db, sql, { name, seconds })).length > 0
}

/** Sets whether the domain is paused. */
export async function setPaused(trx: Db, id: number, paused: boolean): Promise<void> {
  await query(trx, 'update domains set paused = :paused where id = :id', { id, paused })
}

/** Suspends a domain, whose zone leaves the catalog zone. */
export async function suspend(trx: Db, id: number, time: Timestamp): Promise<void> {
  await query(
    trx,
    `with member as (update catalog_members set gone = true, lost = false where domain_id = :id)
     update domains set suspended = :time where id = :id`,
    { id, time },
  )
}

/** Ends the suspension of a domain. @param isMember true to list its zone in the catalog zone again */
export async function endSuspension(trx: Db, id: number, isMember: boolean): Promise<void> {
  await query(
    trx,
    `with served as (update domains set suspended = null where id = :id returning id, name)
     insert into catalog_members (domain_id, zone) select id, name from served where :isMember
     on conflict (domain_id) do update set listed = false, gone = false, lost = false`,
    { id, isMember },
  )
}

/** A domain that is locked for a move. */
export type MovingDomain = Pick<Domain, 'id' | 'name' | 'ownerId' | 'paused'>

/** Locks domains, in the order of their names, so that nobody writes them, and no policy begins to name them. */
export async function lockToMove(trx: Db, names: string[]): Promise<MovingDomain[]> {
  const sql = `select id, name, owner_id as "ownerId", paused from domains where name = any (:names)
    order by name for update`
  return query(trx, sql, { names })
}

/**
 * Gives domains to another account. Nothing of the former account stays with them: no policy of its tokens, no permission
 * to transfer the zones, no note, and neither names nor messages in their histories, whose octets are therefore counted again.
 * @returns the names of those that had such permissions, with the names of their keys
 */
export async function move(
  trx: Db,
  ids: number[],
  ownerId: string,
): Promise<{ name: string; keyName: string | null }[]> {
  return query(
    trx,
    `with moved as (update domains set owner_id = :ownerId, note = null, history_octets = null where id = any (:ids) returning id, name),
       unnamed as (
         update history set account_id = :ownerId, owner_id = null, token_id = null, request_id = null,
           message = case when owner_id is null then message end
         where domain_id = any (:ids)
       ), freed as (delete from policies where domain_id = any (:ids)),
       unshared as (delete from member_domains where domain_id = any (:ids)),
       before as (select domain_id, key_name, secret from transfers where domain_id = any (:ids)),
       closed as (
         update transfers set addresses = '{}', notify = '{}', secret = null,
           key_name = case when secret is null then key_name else 'key-' || gen_random_uuid() end
         where domain_id = any (:ids)
       )
     select name, case when secret is not null then key_name end as "keyName"
     from moved join before on domain_id = id order by name`,
    { ids, ownerId },
  )
}
