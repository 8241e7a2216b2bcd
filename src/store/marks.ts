import { Unavailable } from '../errors.ts'
import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** What is known of a zone whose published state may differ from the database. */
export interface Push {
  /** Without final dot. */
  zone: string
  /** The SOA serial that was being published; null while the zone is deleted, or for an audit. */
  version: number | null
  /** Milliseconds in which a request without an answer may still be applied. */
  grace: number
}

/** Such a zone, and who works on it. Times of marks are the database's own. */
export interface Mark extends Push {
  /**
   * Drawn anew by whoever comes to work on the zone. His lock may be lost while he goes on (a connection breaks), so
   * nobody takes a mark away, or says what is sent under it, but the last one who came.
   */
  claim: number
  since: Timestamp
  attempts: number
  lastError: string | null
}

const COLUMNS = `marks.zone, marks.claim, marks.since, marks.version, marks.grace, marks.attempts,
  marks.last_error as "lastError"`

/**
 * Marks a zone, or claims the mark that it bears already: `isNew` tells which. To be called on a connection of its own,
 * so that the mark is committed when this resolves.
 */
export async function set(db: Db, push: Push): Promise<Mark & { isNew: boolean }> {
  const [mark] = await query<Mark & { isNew: boolean }>(
    db,
    `insert into marks (zone, since, version, grace, retry_at)
     values (:zone, now(), :version, :grace, now() + interval '1 second')
     on conflict (zone) do update set claim = default
     returning ${COLUMNS}, since = now() as "isNew"`,
    { ...push },
  )
  return mark!
}

/** Claims the mark of a zone, if there is one. On a connection of its own, like `set`. */
export async function claim(db: Db, zone: string): Promise<Mark | undefined> {
  const [mark] = await query<Mark>(db, `update marks set claim = default where zone = :zone returning ${COLUMNS}`, {
    zone,
  })
  return mark
}

/** Notes what is sent next to a zone that bears a mark already. @throws Unavailable if somebody else has claimed it */
export async function note(db: Db, { zone, claim, version, grace }: Push & Pick<Mark, 'claim'>): Promise<void> {
  const noted = await query(
    db,
    `update marks set version = :version, grace = :grace, retry_at = now()
     where zone = :zone and claim = :claim returning zone`,
    { zone, claim, version, grace },
  )
  if (noted.length === 0) throw new Unavailable(`the lock on ${zone} was lost`)
}

/** Takes a mark away, unless somebody else has claimed it. */
export async function remove(db: Db, { zone, claim }: Pick<Mark, 'zone' | 'claim'>): Promise<void> {
  await query(db, 'delete from marks where zone = :zone and claim = :claim', { zone, claim })
}

/**
 * Sees to it that the zone is marked after work that was not committed. If somebody else has claimed the mark, it
 * outlives his commit.
 * @param isRepair then it is tried again after a time that doubles up to five minutes, else at once
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

/** Marks zones that were found to differ. */
export async function setMany(db: Db, zones: string[]): Promise<void> {
  await query(
    db,
    `insert into marks (zone, since, grace, retry_at) select zone, now(), 0, now() from unnest(cast(:zones as text[])) zone
     on conflict (zone) do nothing`,
    { zones },
  )
}

/** Takes the zone whose repair is due longest; until a second later nobody else does. */
export async function takeDue(db: Db): Promise<string | undefined> {
  const [mark] = await query<{ zone: string }>(
    db,
    `update marks set retry_at = now() + interval '1 second'
     where zone = (select zone from marks where retry_at <= now() order by retry_at limit 1 for update skip locked)
     returning zone`,
  )
  return mark?.zone
}

/** Makes the repair of all marked zones due. */
export async function hasten(db: Db): Promise<void> {
  await query(db, 'update marks set retry_at = now() where retry_at > now()')
}

/** The marks of these zones, or all. */
export async function list(db: Db, zones?: string[]): Promise<Mark[]> {
  return query<Mark>(
    db,
    `select ${COLUMNS} from marks ${zones === undefined ? '' : 'where zone = any (:zones)'} order by since, zone`,
    { zones },
  )
}
