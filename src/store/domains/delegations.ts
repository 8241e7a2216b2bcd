import type { Pool } from 'pg'
import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'
import type { Domain } from './domains.ts'
import { type Viewer, visibleTo } from './visibility.ts'

/** The last check of a domain at its parent zone. */
export interface StoredCheck {
  state: string
  checked: Timestamp | null
  /** JSON. */
  observation: string
  problems: string[]
  /** The number of checks since the domain began to wait for its delegation; null: it does not wait. */
  waits: number | null
  /** The last state that was neither unknown nor propagating. */
  settled: string | null
  /** The state that the owner is told by mail once it is confirmed. */
  trouble: string | null
  /** The time at which the trouble was first seen. */
  since: Timestamp | null
  /** True if the owner has a mail about this trouble. */
  told: boolean
  /** The time of the last mail about a trouble. */
  mailed: Timestamp | null
}

const COLUMNS = 'state, checked, observation, problems, waits, settled, trouble, since, told, mailed'

/** The state of a domain at its last check; unknown without a check. */
export type DomainState = Pick<StoredCheck, 'state' | 'checked'> & { domain: string }

/** Returns the last check of a domain; undefined: the domain is gone. */
export async function find(db: Db, domainId: number): Promise<StoredCheck | undefined> {
  return maybeOne(db, `select ${COLUMNS} from delegations where domain_id = :domainId`, { domainId })
}

/** Acts like `find`, and keeps others from storing a check of the domain until the transaction ends. */
export async function take(trx: Db, domainId: number): Promise<StoredCheck | undefined> {
  return maybeOne(trx, `select ${COLUMNS} from delegations where domain_id = :domainId for update`, { domainId })
}

/** Returns some of the domains whose check is due, but no suspended ones: first those that wait, and the others in the order of their times. */
export async function due(db: Db, now: Timestamp, limit: number): Promise<Pick<Domain, 'id' | 'name'>[]> {
  return query(
    db,
    `select id, name from delegations join domains on id = domain_id
     where due <= :now and suspended is null order by waits is null, due limit :limit`,
    { now, limit },
  )
}

/** Stores a check of a domain. */
export async function put(trx: Db, domainId: number, check: StoredCheck & { due: Timestamp }): Promise<void> {
  await query(
    trx,
    `insert into delegations (domain_id, due, ${COLUMNS})
       values (:domainId, :due, :state, :checked, :observation, :problems, :waits, :settled, :trouble, :since, :told, :mailed)
     on conflict (domain_id) do update set due = excluded.due, state = excluded.state, checked = excluded.checked,
       observation = excluded.observation, problems = excluded.problems, waits = excluded.waits,
       settled = excluded.settled, trouble = excluded.trouble, since = excluded.since, told = excluded.told,
       mailed = excluded.mailed`,
    { domainId, ...check },
  )
}

/** Plans the next check of a domain, of which nothing is stored because it failed. */
export async function postpone(db: Db, domainId: number, time: Timestamp): Promise<void> {
  await query(db, 'update delegations set due = :time where domain_id = :domainId', { domainId, time })
}

/** The check of each domain; `offset 0` has Postgres look them up one by one, whatever it expects of the account. */
const CHECKED_DOMAINS = `(
    select domains.*, name as domain, coalesce(last.state, 'unknown') as state, last.checked
    from domains left join lateral (select state, checked from delegations where domain_id = id offset 0) as last on true
  ) as domains`

function matching(viewer: Viewer, state: string | undefined): string {
  return `${visibleTo(viewer)} ${state === undefined ? '' : 'and state = :state'}`
}

/** Returns a page of the domains that the viewer can see, or of those in a state: the newest domain first. */
export async function page(pool: Pool, viewer: Viewer, state?: string, cursor?: Cursor): Promise<Page<DomainState>> {
  const columns = 'domain, state, checked, created, id'
  const conditions = [matching(viewer, state)]
  return pageOf(pool, { table: CHECKED_DOMAINS, columns, conditions, bindings: { ...viewer, state } }, cursor)
}

/** Counts the domains of `page`. */
export async function count(db: Db, viewer: Viewer, state?: string): Promise<number> {
  const sql = `select count(*) as n from ${CHECKED_DOMAINS} where ${matching(viewer, state)}`
  return (await one<{ n: number }>(db, sql, { ...viewer, state })).n
}

/** Counts the domains in each state; those without a row are in none. */
export async function countByState(db: Db): Promise<{ state: string; number: number }[]> {
  return query(db, 'select state, count(*) as number from delegations group by state')
}
