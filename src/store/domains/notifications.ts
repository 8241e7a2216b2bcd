import type { Timestamp } from '../../time.ts'
import { type Db, query } from '../database.ts'

/** A domain whose parent is to be told that its CDS have changed. */
export interface Notification {
  domainId: number
  name: string
  /** The attempts so far. */
  attempts: number
  due: Timestamp
}

/**
 * Notes that the parents of these domains, those aside that are gone, are to be told of a change of CDS, if this
 * transaction commits; not before most secondaries have it.
 */
export async function add(trx: Db, domainIds: number[], now: Timestamp): Promise<void> {
  await query(
    trx,
    `insert into parent_notifications (domain_id, due)
       select id, cast(:now as timestamptz) + interval '10 seconds' from domains where id = any (:domainIds) for key share
     on conflict (domain_id) do update set attempts = 0, due = excluded.due`,
    { domainIds, now },
  )
}

/** Returns some of the notifications that are due, the oldest first; none of a paused or suspended domain. */
export async function due(db: Db, now: Timestamp, limit: number): Promise<Notification[]> {
  return query(
    db,
    `select domain_id as "domainId", name, attempts, due from parent_notifications join domains on id = domain_id
     where due <= :now and not paused and suspended is null order by due limit :limit`,
    { now, limit },
  )
}

/**
 * Plans the next attempt of a notification, unless the CDS have changed meanwhile.
 * @param next undefined: there is none
 */
export async function attempted(db: Db, { domainId, due }: Notification, next: Timestamp | undefined): Promise<void> {
  const same = 'domain_id = :domainId and due = :due'
  await (next === undefined
    ? query(db, `delete from parent_notifications where ${same}`, { domainId, due })
    : query(db, `update parent_notifications set attempts = attempts + 1, due = :next where ${same}`, {
        ...{ domainId, due, next },
      }))
}
