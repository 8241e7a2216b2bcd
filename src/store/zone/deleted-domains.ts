import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { RESTORABLE_OCTETS } from '../../limits.ts'
import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query, removal } from '../database.ts'
import type { Domain } from '../domains/domains.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'
import { idAt, type Occasion, OCTETS } from './history.ts'

/** A deleted domain. */
export type DeletedDomain = { deleted: Timestamp } & Pick<
  Domain,
  'id' | 'name' | 'ownerId' | 'minimumTtl' | 'denial' | 'note' | 'created'
>

/**
 * Remembers a domain that is about to be deleted, with its keys and an entry for its last state, unless that is larger
 * than RESTORABLE_OCTETS.
 */
export async function bury(trx: Db, domainId: number, occasion: Occasion): Promise<void> {
  await query(
    trx,
    `with entry as (
       insert into history (id, domain_id, account_id, created, version, source, owner_id, token_id, request_id, message, count, changes)
       select :id, id, owner_id, :now, :version, :source, :ownerId, :tokenId, :requestId, :message, size, (
         select '[' || coalesce(string_agg(format('["%s","%s",[%s,%s,null]', subname, type, ttl,
           substr(cast(array_to_json(records) as text), 2)), ','), '') || ']'
         from rrsets where domain_id = :domainId
       ) from domains where id = :domainId and record_octets <= ${RESTORABLE_OCTETS}
       returning domain_id, ${OCTETS} as octets
     )
     insert into deleted_domains (id, name, owner_id, minimum_ttl, denial, note, created, deleted, history_octets)
     select id, name, owner_id, minimum_ttl, denial, note, created, :now, history_octets + octets
     from entry join domains on id = domain_id`,
    { ...occasion, id: idAt(occasion.now, randomBytes(8)), domainId },
  )
}

/** Whether the history of a deleted domain has its last state, which goes after all others. */
const HAS_HISTORY = '(select true from history where domain_id = deleted_domains.id limit 1)'

/**
 * Returns the domain of this name that was deleted last, unless its history is gone; with `ownerId`, of this account; with
 * `at`, the one that existed then, if there is one. Its history stays as it is until the transaction ends.
 */
export async function buried(
  db: Db,
  name: string,
  ownerId: string | null,
  at: Timestamp | null = null,
): Promise<DeletedDomain | undefined> {
  return maybeOne(
    db,
    `select * from (
       select id, name, owner_id as "ownerId", minimum_ttl as "minimumTtl", denial, note, created, deleted
       from deleted_domains
       where name = :name and (cast(:ownerId as uuid) is null or owner_id = :ownerId)
       order by coalesce(:at between created and deleted, false) desc, deleted desc limit 1 for update
     ) as deleted_domains where ${HAS_HISTORY}`,
    { name, ownerId, at },
  )
}

/** A deleted domain in a list. `created` is the time of its deletion, by which lists are sorted. */
export type ListedDeletion = Pick<DeletedDomain, 'id' | 'name' | 'created'>

const FOUND = 'owner_id = :ownerId and strpos(name, :search) > 0'

/**
 * Those of each name that were deleted last, unless there is a domain of that name again. Instead of such subqueries,
 * Postgres would join all domains of all accounts.
 */
const RESTORABLE = `(
    select id, name, owner_id, deleted as created from deleted_domains
    where (select id from domains where domains.name = deleted_domains.name) is null
      and id = (
        select later.id from deleted_domains as later
        where later.name = deleted_domains.name and later.owner_id = deleted_domains.owner_id
        order by later.deleted desc limit 1
      ) and ${HAS_HISTORY}
  ) as deleted_domains`

/** Returns a page of the deleted domains that an account can restore and that contain a text, last deletion first. */
export async function restorable(
  pool: Pool,
  ownerId: string,
  search: string,
  cursor?: Cursor,
): Promise<Page<ListedDeletion>> {
  const bindings = { ownerId, search }
  const list = { table: RESTORABLE, columns: 'id, name, created', conditions: [FOUND], bindings }
  return pageOf<ListedDeletion>(pool, list, cursor)
}

/** Counts the domains of `restorable`. */
export async function countRestorable(db: Db, ownerId: string, search: string): Promise<number> {
  const sql = `select count(*) as n from ${RESTORABLE} where ${FOUND}`
  return (await one<{ n: number }>(db, sql, { ownerId, search })).n
}

/** Forgets that a domain that exists again was deleted, but for its history, whose readers see the entry from now on. */
export async function exhume(trx: Db, domainId: number): Promise<void> {
  await query(
    trx,
    `with returned as (delete from deleted_domains where id = :domainId returning id, deleted)
     update history set event = 'deletion' from returned
     where history.domain_id = returned.id and history.created = returned.deleted`,
    { domainId },
  )
}

/** Forgets at most `limit` domains that were deleted before this time, and returns their number. */
export async function forget(db: Db, time: Timestamp, limit: number): Promise<number> {
  const sql = `${removal('deleted_domains', 'id', 'deleted < :time limit :limit')} returning id`
  return (await query(db, sql, { time, limit })).length
}
