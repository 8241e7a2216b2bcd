import { Unavailable } from '../../errors.ts'
import { CLAIM_LIFETIME } from '../../limits.ts'
import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { hashSql, ONLY_GROWING } from '../domains/spent.ts'
import { DOUBTFUL_UNTIL } from '../incarnations.ts'

/** The content of a request under a mark. */
export interface Push {
  /** The SOA serial; null if the zone is being deleted, or was marked by an audit. */
  version: number | null
  /** Milliseconds in which PowerDNS may still apply a request that it has not answered; 0: no request is open. */
  grace: number
  /** The longest time limit of a request, in milliseconds. */
  timeLimit: number
}

/** The mark of a zone: its published state may differ from the database. Its times are by the database's clock. */
export interface Mark extends Push {
  /** The name, without final dot. */
  zone: string
  /** The lowest serial that was sent since the zone is marked. */
  first: number | null
  /**
   * A random number for each worker that starts on the zone. A worker may lose its lock without noticing (its
   * connection breaks), so only the last one to claim the mark may delete or update it.
   */
  claim: number
  since: Timestamp
  /** True if the zone was equal to the database when its last worker ended. The mark only watches for late requests. */
  settled: boolean
  /** True if a request that was sent under an earlier claim may still arrive. */
  isWatched: boolean
  /**
   * True if a standby had the zone before it became the active one. It may be that of a domain which was deleted meanwhile,
   * so what Postgres does not know of it is wrong.
   */
  doubted: boolean
  attempts: number
  lastError: string | null
}

const COLUMNS = `marks.zone, marks.claim, marks.since, marks.version, marks.first, marks.grace, marks.time_limit as "timeLimit",
  marks.settled, coalesce(marks.watch_until > clock_timestamp(), false) as "isWatched", marks.attempts,
  marks.last_error as "lastError", marks.doubted`

/**
 * A new claim. From now on the earlier worker sends nothing: it relies on its claim for CLAIM_LIFETIME, and gives up an
 * open request at its time limit.
 */
const CLAIMED = `claim = default, watch_until = greatest(marks.watch_until, ${DOUBTFUL_UNTIL}, case when marks.grace > 0
  then clock_timestamp() + (marks.time_limit + ${CLAIM_LIFETIME}) * interval '1 millisecond' end)`

/**
 * Marks a zone, or claims its existing mark; `isNew` distinguishes the two. Call it outside of transactions, so that
 * the mark is committed when this resolves. After a crash of Postgres the zone is watched for earlier requests.
 * @param options.flushed true if the mark must survive a crash of Postgres. Otherwise its commit does not wait for the
 *   disk, unless there are synchronous standbys, which keep a former primary from publishing, or Postgres has just
 *   crashed: then a second mark could be lost, and its serial given again
 */
export async function set(
  db: Db,
  zone: string,
  push: Push,
  { flushed }: { flushed: boolean } = { flushed: true },
): Promise<Mark & { isNew: boolean }> {
  return one(
    db,
    `insert into marks (zone, since, version, first, grace, time_limit, retry_at, watch_until)
     select :zone, now(), :version, :version, :grace, :timeLimit, now() + interval '1 second', ${DOUBTFUL_UNTIL}
     from set_config('synchronous_commit', case when :flushed or ${DOUBTFUL_UNTIL} > clock_timestamp()
       or current_setting('synchronous_standby_names') <> '' then 'on' else 'off' end, true)
     on conflict (zone) do update set ${CLAIMED}
     returning ${COLUMNS}, since = now() as "isNew"`,
    { zone, ...push, flushed },
  )
}

/** Claims the mark of a zone, if it has one. Call it outside of transactions, like `set`. */
export async function claim(db: Db, zone: string): Promise<Mark | undefined> {
  return maybeOne(db, `update marks set ${CLAIMED} where zone = :zone returning ${COLUMNS}`, { zone })
}

/**
 * Stores the next request to a marked zone. Returns the lowest serial that was sent, this one included.
 * @throws Unavailable if another worker has claimed the mark
 */
export async function note(db: Db, { zone, claim, version, grace, timeLimit }: Mark): Promise<number | null> {
  const updated = await maybeOne<{ first: number | null }>(
    db,
    `update marks set version = :version, first = least(first, :version), grace = :grace, time_limit = :timeLimit, settled = false, retry_at = now()
     where zone = :zone and claim = :claim returning first`,
    { zone, claim, version, grace, timeLimit },
  )
  if (updated === undefined) throw lost(zone)
  return updated.first
}

/** @throws Unavailable if another worker has claimed the mark */
export async function confirm(db: Db, { zone, claim }: Mark): Promise<void> {
  const sql = 'select from marks where zone = :zone and claim = :claim'
  if ((await maybeOne(db, sql, { zone, claim })) === undefined) throw lost(zone)
}

function lost(zone: string): Unavailable {
  return new Unavailable(`the lock on ${zone} was lost`)
}

/**
 * Ends work after which the zone equals the database, unless another worker has claimed the mark. Deletes the mark; but
 * keeps it settled while a request of an earlier worker may still arrive. A serial that the domain does not reach stays
 * spent: no other contents are ever sent under it.
 */
export async function settle(db: Db, { zone, claim }: Mark): Promise<void> {
  await query(
    db,
    `with watched as (
       update marks set settled = true, doubted = false, grace = 0, attempts = 0, last_error = null, retry_at = now() + interval '1 second'
       where zone = :zone and claim = :claim and watch_until > now()
       returning zone, version
     ), gone as (
       delete from marks where zone = :zone and claim = :claim and coalesce(watch_until <= now(), true)
       returning zone, version
     )
     insert into spent (name, version)
       select case when domains.name is null then ${hashSql('zone')} else zone end, ended.version
       from (table watched union all table gone) ended left join domains on domains.name = zone
       where ended.version > coalesce(domains.version, 0)
     ${ONLY_GROWING}`,
    { zone, claim },
  )
}

/**
 * Keeps the zone marked after work that was not committed. The new claim keeps a worker that has claimed the mark
 * meanwhile from deleting it.
 * @param isRepair the next attempt follows after a time that doubles up to five minutes, otherwise at once. No pause is
 *   longer than the zone has been marked: each write that fails causes an attempt, too, and many of them make no long outage
 */
export async function keep(
  db: Db,
  { zone, claim, version, first, grace, timeLimit, settled }: Mark,
  isRepair: boolean,
  error: string,
): Promise<void> {
  await query(
    db,
    `insert into marks (zone, since, version, first, grace, time_limit, retry_at, last_error)
     values (:zone, now(), :version, :first, :grace, :timeLimit, now(), :error)
     on conflict (zone) do update set
       claim = default,
       settled = marks.settled and :settled,
       version = greatest(marks.version, excluded.version),
       first = least(marks.first, excluded.first),
       grace = case when marks.claim = :claim then excluded.grace else greatest(marks.grace, excluded.grace) end,
       time_limit = greatest(marks.time_limit, excluded.time_limit),
       attempts = marks.attempts + :failed,
       last_error = excluded.last_error,
       retry_at = now() + :failed * least(interval '1 second' * power(2, least(marks.attempts, 10)),
         greatest(now() - marks.since, interval '1 second'), interval '5 minutes')`,
    { zone, claim, version, first, grace, timeLimit, settled, error, failed: isRepair ? 1 : 0 },
  )
}

/** Reports whether a zone without domain is marked: a failed creation may have left it at the nameserver. */
export async function isLeftover(db: Db, zone: string): Promise<boolean> {
  const sql = `select from marks
    where zone = :zone and not settled and not exists (select from domains where domains.name = marks.zone)`
  return (await maybeOne(db, sql, { zone })) !== undefined
}

/** Reports whether a zone is marked, settled marks included. */
export async function isMarked(db: Db, zone: string): Promise<boolean> {
  return (await maybeOne(db, 'select from marks where zone = :zone', { zone })) !== undefined
}

/**
 * Marks zones that a repair shall make equal to the database. Returns those that were not marked.
 * @param options.versions those that an audit has compared; null: none. Domains with other versions by now are left out
 * @param options.delay the milliseconds from now until the repair is due
 */
export async function setMany(
  db: Db,
  zones: string[],
  { versions = [], delay = 0 }: { versions?: (number | null)[]; delay?: number } = {},
): Promise<string[]> {
  const set = await query<{ zone: string; added: boolean }>(
    db,
    `insert into marks (zone, since, grace, time_limit, retry_at)
     select zone, now(), 0, 0, clock_timestamp() + :delay * interval '1 millisecond'
     from unnest(cast(:zones as text[]), cast(:versions as bigint[])) suspects (zone, version)
     where version is null
       or version = (select domains.version from domains where domains.name = suspects.zone)
     on conflict (zone) do update set settled = false, retry_at = least(marks.retry_at, excluded.retry_at)
     where marks.settled
     returning zone, xmax = 0 as added`,
    { zones, versions, delay },
  )
  return set.flatMap(({ zone, added }) => (added ? [zone] : []))
}

/** Marks a zone that shall change with this transaction. Unlike those of an audit, the mark does not say that others have changed it. */
export async function setOwn(trx: Db, zone: string): Promise<void> {
  await query(
    trx,
    `insert into marks (zone, since, grace, time_limit, retry_at) values (:zone, now(), 0, 1, now())
     on conflict (zone) do update set settled = false, retry_at = least(marks.retry_at, now()) where marks.settled`,
    { zone },
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

/** Reports whether an audit marked the zone, and the service has sent nothing since: then others have changed it. */
export function wasAudited({ first, timeLimit }: Mark): boolean {
  return first === null && timeLimit === 0
}

/** Reports whether a write has marked the zone, and nothing has failed yet: it may be under way. */
export function isOfWrite(mark: Mark): boolean {
  return mark.attempts === 0 && mark.lastError === null && !wasAudited(mark)
}

/** Returns the marks of these zones, or all marks, without settled ones. */
export async function list(db: Db, zones?: string[]): Promise<Mark[]> {
  return query<Mark>(
    db,
    `select ${COLUMNS} from marks
     where not settled ${zones === undefined ? '' : 'and zone = any (:zones)'} order by since, zone`,
    { zones },
  )
}

/** Counts the marked zones, and the seconds since the oldest mark, without settled marks. */
export async function state(db: Db): Promise<{ number: number; age: number }> {
  return one(
    db,
    `select count(*) as number, cast(coalesce(extract(epoch from now() - min(since)), 0) as float8) as age
     from marks where not settled`,
  )
}
