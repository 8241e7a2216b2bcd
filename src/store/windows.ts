import { CLOCK_SKEW, type Scope } from '../limits.ts'
import { type Db, query, removal } from './database.ts'

/** A window that counts requests, in this scope, of one caller. */
export interface Window {
  scope: Scope
  /** The scope, the length, and the caller. */
  key: string
  /** The requests that it allows. */
  quota: number
  /** Seconds. */
  length: number
}

/** The state of a window; of one that has not begun, as if it began now. */
export interface Count {
  /** Counted requests. */
  used: number
  /** Milliseconds since 1970. */
  ends: number
}

/** Counts a request in all these windows, unless one is full. Returns their states before. */
export async function count(db: Db, windows: Window[], now: number): Promise<Count[]> {
  return query(db, 'select used, ends from count_request(:keys, :quotas, :lengths, :now)', {
    keys: windows.map(({ key }) => key),
    quotas: windows.map(({ quota }) => quota),
    lengths: windows.map(({ length }) => length * 1000),
    now,
  })
}

/** Returns the states of these windows. */
export async function read(db: Db, windows: Window[], now: number): Promise<Count[]> {
  return query(
    db,
    `select coalesce(points, 0) as used, coalesce(expire, cast(:now as bigint) + length) as ends
     from unnest(cast(:keys as text[]), cast(:lengths as bigint[])) with ordinality as asked (name, length, place)
     left join throttle on key = name and expire > :now order by place`,
    { keys: windows.map(({ key }) => key), lengths: windows.map(({ length }) => length * 1000), now },
  )
}

/** A window of a caller that has not ended, by the parts of its key. */
export interface CallersWindow extends Count {
  scope: string
  /** Seconds. */
  length: number
  caller: string
  /** Empty: it counts for all domains. */
  domain: string
}

/** Returns the windows of these callers that have not ended, the longest first. */
export async function ofCallers(db: Db, callers: string[], now: number): Promise<CallersWindow[]> {
  const sql = `select split_part(key, ' ', 1) as scope, cast(split_part(key, ' ', 2) as integer) as length, caller,
      ltrim(substr(counted, length(caller) + 1)) as domain, points as used, expire as ends
    from throttle, substr(key, length(split_part(key, ' ', 1) || split_part(key, ' ', 2)) + 3) as counted,
      unnest(cast(:callers as text[])) as caller
    where expire > :now and starts_with(counted || ' ', caller || ' ') order by length desc, scope, caller, domain`
  return query(db, sql, { callers, now })
}

/** Takes back a request that was counted in windows with these keys and ends. */
export async function uncount(db: Db, keys: string[], ends: number[]): Promise<void> {
  await query(
    db,
    `with locked as materialized (select key from throttle where key = any (:keys) order by key for update)
     update throttle set points = points - 1
     from unnest(cast(:keys as text[]), cast(:ends as bigint[])) as counted (name, ends)
     where key = name and expire = ends and key in (select key from locked)`,
    { keys, ends },
  )
}

/** Deletes the windows that ended before, and those that end too late, because the clock was set back. */
export async function removeBefore(db: Db, time: number): Promise<void> {
  const isWrong = `expire < :time
    or expire > :time + 1000 * (cast(split_part(key, ' ', 2) as bigint) + ${2 * CLOCK_SKEW})`
  await query(db, removal('throttle', 'key', isWrong), { time })
}
