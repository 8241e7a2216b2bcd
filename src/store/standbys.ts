import type { Pool } from 'pg'
import { answerTime, CLAIM_LIFETIME, OCTETS_AS_RRSET } from '../limits.ts'
import { type Db, maybeOne, query, transaction } from './database.ts'
import type { Domain } from './domains/domains.ts'

// The PowerDNS of a cluster with databases of their own, and the zones that may be older there (primaries.md). Commits
// note them: `requireTerm` in primaries.ts.

/** What a transaction has changed in the RRsets of a zone, and nothing else. */
export interface ZoneChange {
  /** The serial before. */
  served: number
  /** The subname and the type of each RRset. */
  changed: [subname: string, type: string][]
}

/** A zone that may be older at a standby, and the right of one worker to copy it. */
export interface Behind {
  member: string
  zone: string
  /** A new one for each committed change. */
  change: string
  claim: string
  /** The serial of the standby, if `changed` is not null. */
  served: number | null
  /** The RRsets that differ there; null: anything may. */
  changed: ZoneChange['changed'] | null
}

/** Waits for the commits that are under way. Later ones wait until the transaction ends. */
const ALONE = `select pg_advisory_xact_lock(hashtextextended('primaries', 0))`

/** Waits for those that are alone, as each commit does. Later ones wait until the transaction ends. */
const TOGETHER = `select pg_advisory_xact_lock_shared(hashtextextended('primaries', 0))`

/** Runs work, in a transaction, while nobody commits changes of zones. */
export async function alone<T>(pool: Pool, work: (trx: Db) => Promise<T>): Promise<T> {
  return transaction(pool, async (trx) => {
    await query(trx, ALONE)
    return work(trx)
  })
}

/** Registers members with databases of their own. All later commits note their zones. */
export async function register(pool: Pool, names: string[]): Promise<void> {
  const sql = 'insert into standbys (name) select unnest(cast(:names as text[])) on conflict do nothing'
  await alone(pool, (trx) => query(trx, sql, { names }))
}

/** Forgets a member. @returns whether it was registered */
export async function forget(pool: Pool, name: string): Promise<boolean> {
  return alone(pool, async (trx) => {
    await query(trx, 'delete from standby_zones where member = :name', { name })
    return (await maybeOne(trx, 'delete from standbys where name = :name returning name', { name })) !== undefined
  })
}

/**
 * After a restore: forgets the members that are not in the list, and notes all zones at the others, which may have what the
 * backup lacks; not at the first one, which is the active one then.
 */
export async function distrust(trx: Db, members: string[], catalog: string | undefined): Promise<void> {
  await query(trx, 'delete from standbys where name <> all(cast(:members as text[]))', { members })
  for (const name of (await lags(trx)).keys()) if (name !== members[0]) await noteAll(trx, name, catalog)
}

/** Notes all domains as behind at a member, and one more zone; none at the active one. */
export async function noteAll(trx: Db, member: string, zone: string | undefined): Promise<void> {
  const sql = 'select name from domains union select cast(:zone as text) where cast(:zone as text) is not null'
  await add(trx, sql, { member, zone: zone ?? null })
}

/** Domains, with the versions that they had. */
type Found = Pick<Domain, 'name' | 'version'>[]

/** Whether a domain waits to be copied to a member. The others have their version there, whenever it is asked afterwards. */
const WAITS = 'exists (select from standby_zones where zone = domains.name and member = :member)'

/** Returns all domains that do not wait to be copied to a member. The cost grows with the number of domains. */
export async function settled(db: Db, member: string): Promise<Pick<Domain, 'name' | 'version' | 'suspended'>[]> {
  return query(db, `select name, version, suspended from domains where not ${WAITS}`, { member })
}

/** Returns some of these at random, each once: at most this many, in a time that does not depend on the number of domains. */
export async function sample(db: Db, member: string, most: number): ReturnType<typeof settled> {
  return query(
    db,
    `select distinct on (domains.id) domains.name, domains.version, domains.suspended
     from (select min(id) as first, max(id) as last from domains) as ends,
       generate_series(1, cast(:most as integer)) as draw,
       lateral (select cast(first + floor(random() * (last - first + 1)) as bigint) + 0 * draw as id) as drawn,
       lateral (select * from domains where domains.id >= drawn.id order by domains.id limit 1) as domains
     where not ${WAITS}`,
    { member, most },
  )
}

/** Selects the names of those that still have the same version. */
const UNCHANGED = `select name from jsonb_to_recordset(cast(:found as jsonb)) as found (name text, version bigint)
  join domains using (name, version)`

/** Notes domains as behind at a member, but those that have other versions by now; none at the active one. */
export async function note(trx: Db, member: string, found: Found): Promise<void> {
  await add(trx, UNCHANGED, { member, found: JSON.stringify(found) })
}

/** Reports whether a zone waits to be copied to any member. */
export async function isBehind(db: Db, zone: string): Promise<boolean> {
  return (await query(db, 'select from standby_zones where zone = :zone', { zone })).length > 0
}

/** Counts the domains that still have the same version, and are not marked. */
export async function countCertain(db: Db, found: Found): Promise<number> {
  const sql = `${UNCHANGED} where not exists (select from marks where zone = name)`
  return (await query(db, sql, { found: JSON.stringify(found) })).length
}

/**
 * Notes zones as behind at a member, unless it is the active one by now: nobody copies to that. Like commits, it waits for a
 * change-over, and notes zones in their order: so nobody waits for each other.
 * @param zones selects their names
 */
async function add(trx: Db, zones: string, values: Record<string, unknown> & { member: string }): Promise<void> {
  await query(trx, TOGETHER)
  await query(
    trx,
    `insert into standby_zones (member, zone) select cast(:member as text), name from (${zones}) as zones
     where not exists (select from primaries where primaries.name = :member) order by 1, 2
     on conflict (member, zone) do update set change = excluded.change, changed = null`,
    values,
  )
}

/** SQL for when no request that is sent now can arrive at a member any more. */
const ARRIVED = `clock_timestamp() + interval '1 millisecond' * (${answerTime(0) + CLAIM_LIFETIME} + ${answerTime(1) - answerTime(0)}
  * coalesce((select size + record_octets / ${OCTETS_AS_RRSET} from domains where name = standby_zones.zone), 0))`

/** Takes the zone that has been due longest at a member, until no request of this worker can arrive there any more. */
export async function take(db: Db, member: string): Promise<Behind | undefined> {
  return maybeOne(
    db,
    `update standby_zones set claim = gen_random_uuid(), attempts = attempts + 1, due = ${ARRIVED}
     where member = :member and zone = (
       select zone from standby_zones where member = :member and due <= clock_timestamp()
       order by due limit 1 for update skip locked)
     returning member, zone, change, claim, served, changed`,
    { member },
  )
}

/**
 * Reports whether nobody else has the zone; then the worker may send a request.
 * @param options.unchanged also whether nothing has been committed since
 */
export async function isOwn(
  db: Db,
  { member, zone, claim, change }: Behind,
  { unchanged }: { unchanged: boolean },
): Promise<boolean> {
  const sql = `update standby_zones set due = greatest(due, ${ARRIVED})
    where member = :member and zone = :zone and claim = :claim and (change = :change or not :unchanged) returning zone`
  return (await maybeOne(db, sql, { member, zone, claim, change, unchanged })) !== undefined
}

/**
 * Notes that a zone is current at a member; if it has changed meanwhile, it is due at once.
 * @param version the serial that it has there; undefined: it has no zone there
 */
export async function finish(
  db: Db,
  { member, zone, claim, change }: Behind,
  version: number | undefined,
): Promise<void> {
  await query(
    db,
    `with current as (
       delete from standby_zones where member = :member and zone = :zone and claim = :claim and change = :change
     )
     update standby_zones set due = clock_timestamp(), since = clock_timestamp(), claim = null, attempts = 0,
       served = :version, changed = case when cast(:version as bigint) is not null then changed end
     where member = :member and zone = :zone and claim = :claim and change <> :change`,
    { member, zone, claim, change, version: version ?? null },
  )
}

/**
 * Lets a zone that could not be copied wait.
 * @param pause milliseconds, if that says nothing about the zone; null: a time that doubles up to five minutes
 */
export async function postpone(db: Db, { member, zone, claim }: Behind, pause: number | null): Promise<void> {
  await query(
    db,
    `update standby_zones set claim = null, attempts = attempts - cast(cast(:pause as int) is not null as int),
       due = clock_timestamp() + coalesce(cast(:pause as int) * interval '1 millisecond',
         least(interval '1 second' * power(2, least(attempts - 1, 10)), interval '5 minutes'))
     where member = :member and zone = :zone and claim = :claim`,
    { member, zone, claim, pause },
  )
}

/** How far a member with a database of its own is behind. */
export interface Lag {
  /** The number of zones that may be older there. */
  behind: number
  /** The seconds since the oldest of these changes. */
  age: number
}

/** Returns the lag of each registered member, by name, the active one included. */
export async function lags(db: Db): Promise<Map<string, Lag>> {
  const rows = await query<Lag & { name: string }>(
    db,
    `select standbys.name, count(zone) as behind,
       cast(coalesce(extract(epoch from clock_timestamp() - min(standby_zones.since)), 0) as float8) as age
     from standbys left join standby_zones on member = standbys.name group by standbys.name order by standbys.name`,
  )
  return new Map(rows.map(({ name, ...lag }) => [name, lag]))
}

/**
 * Doubts the zones that may be older at the active member than in the database: marks them, and lets their rollovers wait
 * anew, because the member may have served older keys. A worker that copies one may still have a request under way: the
 * mark watches for it. Whoever has claimed a mark before has no right any more. Call it before anything is sent to the
 * member.
 * @param catalog the catalog zone, whose publisher compares it after a change-over
 */
export async function doubt(trx: Db, member: string, catalog: string | undefined): Promise<void> {
  await query(
    trx,
    `update rollovers set since = now(), version = null, seen = 0, waited = 0, check_at = now(), counted = now()
     from domains join standby_zones on zone = domains.name
     where rollovers.domain_id = domains.id and member = :member and phase <> 'queued'`,
    { member },
  )
  await query(
    trx,
    `with doubtful as (delete from standby_zones where member = :member returning zone, due)
     insert into marks (zone, since, grace, time_limit, retry_at, watch_until, doubted)
       select zone, now(), 0, 1, now(), due, true from doubtful where zone is distinct from :catalog order by zone
     on conflict (zone) do update set claim = default, settled = false, doubted = true,
       retry_at = least(marks.retry_at, now()), watch_until = greatest(marks.watch_until, excluded.watch_until)`,
    { member, catalog: catalog ?? null },
  )
}
