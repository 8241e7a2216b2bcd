import { Unavailable } from '../errors.ts'
import type { Timestamp } from '../time.ts'
import { maybeOne, one, query, type Db } from './database.ts'

/** A zone whose published state may differ from the database. */
interface Push {
  /** Without final dot. */
  zone: string
  /** The SOA serial that was being published; null if the zone is being deleted, or was marked by an audit. */
  version: number | null
  /** Milliseconds in which PowerDNS may still apply a request that it has not answered. */
  grace: number
}

/** The mark of a zone. Its times are those of the database's clock. */
export interface Mark extends Push {
  /**
   * A new number for each worker that starts on the zone. A worker may lose its lock without noticing (its connection
   * breaks), so only the last one to claim the mark may delete or update it.
   */
  claim: number
  since: Timestamp
  attempts: number
  lastError: string | null
}

const COLUMNS = `marks.zone, marks.claim, marks.since, marks.version, marks.grace, marks.attempts,
  marks.last_error as "lastError"`

/**
 * Marks a zone, or claims its existing mark; `isNew` distinguishes the two. Call it outside of transactions, so that
 * the mark is committed when this resolves.
 */
export async function set(db: Db, push: Push): Promise<Mark & { isNew: boolean }> {
  return one(
    db,
    `insert into marks (zone, since, version, grace, retry_at)
     values (:zone, now(), :version, :grace, now() + interval '1 second')
     on conflict (zone) do update set claim = default
     returning ${COLUMNS}, since = now() as "isNew"`,
    { ...push },
  )
}

/** Claims the mark of a zone, if there is one. Call it outside of transactions, like `set`. */
export async function claim(db: Db, zone: string): Promise<Mark | undefined> {
  return maybeOne(db, `update marks set claim = default where zone = :zone returning ${COLUMNS}`, { zone })
}

/** Stores what is sent next to a marked zone. @throws Unavailable if another worker has claimed the mark */
export async function note(db: Db, { zone, claim, version, grace }: Push & Pick<Mark, 'claim'>): Promise<void> {
  const updated = await maybeOne(
    db,
    `update marks set version = :version, grace = :grace, retry_at = now()
     where zone = :zone and claim = :claim returning zone`,
    { zone, claim, version, grace },
  )
  if (updated === undefined) throw new Unavailable(`the lock on ${zone} was lost`)
}

/** Deletes a mark, unless another worker has claimed it. */
export async function remove(db: Db, { zone, claim }: Pick<Mark, 'zone' | 'claim'>): Promise<void> {
  await query(db, 'delete from marks where zone = :zone and claim = :claim', { zone, claim })
}

/**
 * Keeps the zone marked after work that was not committed. The new claim keeps a worker that has claimed the mark
 * meanwhile from deleting it.
 * @param isRepair the next attempt follows after a time that doubles up to five minutes, else at once
 */
export async function keep(
  db: Db,
  { zone, claim, version, grace }: Push & Pick<Mark, 'claim'>,
  isRepair: boolean,
  error: string,
): Promise<void> {
  await query(
    db,
    `insert into marks (zone, since, version, grace, retry_at, last_error)
     values (:zone, now(), :version, :grace, now(), :error)
     on conflict (zone) do update set
       claim = default,
       version = greatest(marks.version, excluded.version),
       grace = case when marks.claim = :claim then excluded.grace else greatest(marks.grace, excluded.grace) end,
       attempts = marks.attempts + :failed,
       last_error = excluded.last_error,
       retry_at = now() + :failed * least(interval '1 second' * power(2, least(marks.attempts, 10)), interval '5 minutes')`,
    { zone, claim, version, grace, error, failed: isRepair ? 1 : 0 },
  )
}

/** Marks zones in which an audit found differences. */
export async function setMany(db: Db, zones: string[]): Promise<void> {
  await query(
    db,
    `insert into marks (zone, since, grace, retry_at) select zone, now(), 0, now() from unnest(cast(:zones as text[])) zone
     on conflict (zone) do nothing`,
    { zones },
  )
}

/** Takes the zone whose repair has been due longest. It is due again in a second, so that no other process takes it. */
export async function takeDue(db: Db): Promise<string | undefined> {
  const mark = await maybeOne<{ zone: string }>(
    db,
    `update marks set retry_at = now() + interval '1 second'
     where zone = (select zone from marks where retry_at <= now() order by retry_at limit 1 for update skip locked)
     returning zone`,
  )
  return mark?.zone
}

/** Makes the repair of all marked zones due now. */
export async function hasten(db: Db): Promise<void> {
  await query(db, 'update marks set retry_at = now() where retry_at > now()')
}

/** The marks of these zones, or all marks. */
export async function list(db: Db, zones?: string[]): Promise<Mark[]> {
  return query<Mark>(
    db,
    `select ${COLUMNS} from marks ${zones === undefined ? '' : 'where zone = any (:zones)'} order by since, zone`,
    { zones },
  )
}
