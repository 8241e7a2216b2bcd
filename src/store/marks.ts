import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** A zone whose published state may differ from the database. Times of marks are the database's own. */
export interface Mark {
  /** Without final dot. */
  zone: string
  since: Timestamp
  /** The SOA serial that was being published; null while the zone is deleted, or for an audit. */
  version: number | null
  /** Milliseconds in which a request without an answer may still be applied. */
  grace: number
  attempts: number
  lastError: string | null
}

const COLUMNS = 'marks.zone, marks.since, marks.version, marks.grace, marks.attempts, marks.last_error as "lastError"'

/**
 * Marks a zone, and returns the mark that it bears already, if so. To be called on a connection of its own, so that the
 * mark is committed when this resolves.
 */
export async function place(db: Db, mark: Pick<Mark, 'zone' | 'version' | 'grace'>): Promise<Mark | undefined> {
  const placed = await query(
    db,
    `insert into marks (zone, since, version, grace, retry_at)
     values (:zone, now(), :version, :grace, now() + interval '1 second') on conflict (zone) do nothing returning zone`,
    mark,
  )
  return placed.length > 0 ? undefined : find(db, mark.zone)
}

/** Notes what is sent next to a zone that bears a mark already. */
export async function replace(db: Db, mark: Pick<Mark, 'zone' | 'version' | 'grace'>): Promise<void> {
  await query(db, 'update marks set version = :version, grace = :grace, retry_at = now() where zone = :zone', mark)
}

export async function remove(db: Db, zone: string): Promise<void> {
  await query(db, 'delete from marks where zone = :zone', { zone })
}

/** Marks zones that were found to differ. */
export async function placeMany(db: Db, zones: string[]): Promise<void> {
  await query(
    db,
    `insert into marks (zone, since, grace, retry_at) select zone, now(), 0, now() from unnest(cast(:zones as text[])) zone
     on conflict (zone) do nothing`,
    { zones },
  )
}

/** Notes that repair did not succeed; it is tried again after a time that doubles up to five minutes. */
export async function postpone(db: Db, zone: string, error: string): Promise<void> {
  await query(
    db,
    `update marks set attempts = attempts + 1, last_error = :error,
       retry_at = now() + least(interval '1 second' * power(2, least(attempts, 10)), interval '5 minutes')
     where zone = :zone`,
    { zone, error },
  )
}

/** The zones whose repair is due, the longest marked first. */
export async function due(db: Db, most: number): Promise<Mark[]> {
  return query<Mark>(db, `select ${COLUMNS} from marks where retry_at <= now() order by retry_at limit :most`, { most })
}

export async function find(db: Db, zone: string): Promise<Mark | undefined> {
  const [mark] = await query<Mark>(db, `select ${COLUMNS} from marks where zone = :zone`, { zone })
  return mark
}
