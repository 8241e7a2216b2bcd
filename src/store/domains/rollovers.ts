import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, query } from '../database.ts'

export type Phase = 'queued' | 'sign' | 'publish' | 'await-ds' | 'await-ds-ttl' | 'unpublish'

/** The replacement of a domain's keys. */
export interface Rollover {
  domainId: number
  phase: Phase
  /** The public halves of the new keys, and of the former ones. */
  incoming: string[]
  outgoing: string[]
  /** True if it does not wait for caches. */
  emergency: boolean
  /** True if the user has, or had during the rollover, DNSKEY records: other signers serve the zone, too. */
  hasOtherSigners: boolean
  /** True if the owner vouches for the parent, or for the other signers. */
  confirmed: boolean
  /** True if a login or the operator has confirmed by force: the parent is not asked again. */
  forced: boolean
  /** The beginning of the phase. */
  since: Timestamp
  /** The version of the domain with the keys of the phase; null: not published yet. */
  version: number | null
  /** How often, in succession, what the phase waits for was observed. */
  seen: number
  /** The seconds that a process saw pass since it was observed, and that must pass. */
  waited: number
  ttl: number
  /** When the owner was last asked to change the DS in this phase. */
  mailed: Timestamp | null
}

/** Whether a domain has DNSKEY records of other signers. @param domainId an expression */
const haveOtherKeys = (domainId: string) =>
  `exists (select from rrsets where rrsets.domain_id = ${domainId} and subname = '' and type = 'DNSKEY')`

/** Whether other signers serve the zone; also if their records are gone: who may remove these ends no wait of the owner. */
const OTHER_SIGNERS = `(other_signers or ${haveOtherKeys('rollovers.domain_id')})`

/** Whether somebody outside of the service has to do something, for as long as it takes. */
const WAITS_FOR_OTHERS = `(phase = 'await-ds' or phase = 'publish' and ${OTHER_SIGNERS})`

const COLUMNS = `rollovers.domain_id as "domainId", rollovers.phase, rollovers.incoming, rollovers.outgoing,
  rollovers.emergency, rollovers.confirmed, rollovers.forced, rollovers.since, rollovers.version, rollovers.seen, rollovers.waited,
  rollovers.ttl, rollovers.mailed,
  ${OTHER_SIGNERS} as "hasOtherSigners"`

/** Returns the rollover of a domain. */
export async function rolloverOf(db: Db, domainId: number): Promise<Rollover | undefined> {
  return maybeOne(db, `select ${COLUMNS} from rollovers where domain_id = :domainId`, { domainId })
}

/** Begins a phase of a rollover, which can be the first one. */
export async function enter(
  trx: Db,
  rollover: Pick<Rollover, 'domainId' | 'phase' | 'incoming' | 'outgoing' | 'emergency'>,
  now: Timestamp,
): Promise<void> {
  await query(
    trx,
    `insert into rollovers (domain_id, phase, incoming, outgoing, emergency, since, check_at, counted, other_signers)
     values (:domainId, :phase, :incoming, :outgoing, :emergency, :now, now(), now(), ${haveOtherKeys(':domainId')})
     on conflict (domain_id) do update set phase = excluded.phase, incoming = excluded.incoming,
       outgoing = excluded.outgoing, since = excluded.since, check_at = excluded.check_at,
       other_signers = rollovers.other_signers or excluded.other_signers,
       emergency = excluded.emergency, algorithm = null, at_most = null, mailed = null,
       ttl = case when excluded.phase = 'await-ds-ttl' then rollovers.ttl else 0 end,
       confirmed = false, forced = excluded.phase = 'await-ds-ttl' and rollovers.forced,
       version = null, seen = 0, waited = 0, counted = excluded.counted`,
    { ...rollover, now },
  )
}

export async function remove(trx: Db, domainId: number): Promise<void> {
  await query(trx, 'delete from rollovers where domain_id = :domainId', { domainId })
}

/**
 * Lets a rollover of a domain that comes back wait for the parent again if it has waited for it before: the parent may
 * have changed meanwhile. The former keys are in the zone again.
 */
export async function askParentAgain(trx: Db, domainId: number, now: Timestamp): Promise<void> {
  await query(
    trx,
    `with again as (
       update rollovers set phase = 'await-ds', since = :now, confirmed = false, version = null, seen = 0, waited = 0,
         ttl = 0, mailed = null, check_at = now(), counted = now()
       where domain_id = :domainId and phase in ('await-ds', 'await-ds-ttl', 'unpublish')
       returning domain_id, outgoing
     )
     update keys set published = true from again
     where keys.domain_id = again.domain_id and dnskey = any (outgoing) and active`,
    { domainId, now },
  )
}

/**
 * Takes all rollovers back to a phase in which the keys of both sides are in the zone, and lets them wait anew: after a
 * restore of the database, nameservers and parents may have been further, or may have gone back. Returns the names of
 * their domains.
 */
export async function distrust(trx: Db): Promise<string[]> {
  const distrusted = await query<{ name: string }>(
    trx,
    `with again as (
       update rollovers set phase = case when phase in ('sign', 'publish') then 'publish' else 'await-ds' end,
         since = now(), confirmed = false, version = null, seen = 0, waited = 0, ttl = 0, mailed = null, check_at = now(),
         counted = now()
       where phase <> 'queued'
       returning domain_id, incoming, outgoing
     ), shown as (
       update keys set published = true from again
       where keys.domain_id = again.domain_id and dnskey = any (incoming || outgoing) and active
     )
     select name from again join domains on id = domain_id`,
  )
  return distrusted.map(({ name }) => name)
}

/** Notes what was observed of a phase, unless it is over, and when to look again. @param pause seconds */
export async function note(
  db: Db,
  { domainId, since }: Pick<Rollover, 'domainId' | 'since'>,
  { version, seen, ttl }: Pick<Rollover, 'version' | 'seen' | 'ttl'>,
  pause: number,
): Promise<void> {
  await query(
    db,
    `update rollovers set version = :version, seen = :seen, ttl = greatest(ttl, :ttl), other_signers = ${OTHER_SIGNERS},
       waited = case when :seen = 0 then 0 else waited end, counted = case when seen = 0 then now() else counted end,
       check_at = now() + :pause * interval '1 second'
     where domain_id = :domainId and since = :since`,
    { domainId, since, version, seen, ttl, pause },
  )
}

/**
 * Notes when the owner was asked to do something; null: never. Returns false if the rollover no longer waits for that.
 */
export async function noteMail(
  trx: Db,
  { domainId, since }: Pick<Rollover, 'domainId' | 'since'>,
  time: Timestamp | null,
): Promise<boolean> {
  const sql = `update rollovers set mailed = :time
    where domain_id = :domainId and ${WAITS_FOR_OTHERS} and since = :since and not confirmed returning domain_id`
  return (await query(trx, sql, { domainId, since, time })).length > 0
}

/**
 * Notes that the owner vouches for the parent, or for other signers, whose caches count from now on. Returns false if the
 * rollover waits for neither.
 */
export async function confirm(db: Db, domainId: number, forced: boolean): Promise<boolean> {
  const sql = `update rollovers set confirmed = true, forced = :forced, seen = 0, waited = 0, check_at = now()
    where domain_id = :domainId and ${WAITS_FOR_OTHERS} returning domain_id`
  return (await query(db, sql, { domainId, forced })).length > 0
}

/** Looks at a rollover again later. @param pause seconds */
export async function postpone(db: Db, domainId: number, pause: number): Promise<void> {
  const sql = `update rollovers set check_at = now() + :pause * interval '1 second' where domain_id = :domainId`
  await query(db, sql, { domainId, pause })
}

/**
 * Adds the seconds that a process saw pass to the waits that have begun, but for what was added already: other processes
 * may have seen the same time pass.
 */
export async function addWaited(db: Db, seconds: number): Promise<void> {
  await query(
    db,
    `update rollovers set counted = now(),
       waited = waited + least(:seconds, greatest(cast(extract(epoch from now() - counted) as float8), 0))
     where phase <> 'await-ds' and seen > 0 and waited < ttl`,
    { seconds },
  )
}

/** Who has to do the next step of a rollover. */
export type Side = 'service' | 'parent'

/** Returns rollovers whose next observation is due, with the names of their domains, the longest due first. */
export async function due(db: Db, side: Side, limit: number): Promise<(Rollover & { name: string })[]> {
  const sql = `select ${COLUMNS}, domains.name from rollovers join domains on domains.id = domain_id
    where check_at <= now() and phase <> 'queued' and not domains.paused and domains.suspended is null
      and (phase = 'await-ds' and not confirmed or phase = 'await-ds-ttl' and not forced) = :isAtParent
    order by check_at limit :limit`
  return query(db, sql, { isAtParent: side === 'parent', limit })
}

/** Returns all rollovers with the names of their domains, the oldest first. */
export async function all(db: Db): Promise<(Rollover & { name: string })[]> {
  const sql = `select ${COLUMNS}, domains.name from rollovers join domains on domains.id = domain_id order by since`
  return query(db, sql)
}

/** A rollover that has not begun. */
export type Queued = Pick<Rollover, 'domainId' | 'emergency'> & { name: string; algorithm: string }

/**
 * Queues a rollover of every domain that has none, and changes those that are queued already.
 * @param wish.atMost it does not begin while so many others are under way
 * @returns the number of queued rollovers
 */
export async function enqueueAll(
  db: Db,
  wish: Pick<Queued, 'algorithm' | 'emergency'> & { atMost: number },
  now: Timestamp,
): Promise<number> {
  const queued = await query(
    db,
    `insert into rollovers (domain_id, phase, incoming, outgoing, emergency, algorithm, at_most, since, check_at, counted)
       select id, 'queued', '{}', '{}', :emergency, :algorithm, :atMost, :now, now(), now() from domains order by id
     on conflict (domain_id) do update set emergency = excluded.emergency, algorithm = excluded.algorithm,
       at_most = excluded.at_most where rollovers.phase = 'queued'
     returning domain_id`,
    { ...wish, now },
  )
  return queued.length
}

/** Forgets all rollovers that have not begun, and returns their number. */
export async function emptyQueue(db: Db): Promise<number> {
  return (await query(db, `delete from rollovers where phase = 'queued' returning domain_id`)).length
}

/** Returns the queued rollovers that can begin now. Those that wait for others do not count as under way. */
export async function startable(db: Db, limit: number): Promise<Queued[]> {
  return query(
    db,
    `with queue as (
       select domain_id, name, algorithm, rollovers.emergency, at_most,
         row_number() over (order by check_at, domain_id) as place
       from rollovers join domains on id = domain_id
       where phase = 'queued' and check_at <= now() and not paused and suspended is null
     ), busy as (select count(*) as number from rollovers where phase <> 'queued' and (confirmed or not ${WAITS_FOR_OTHERS}))
     select domain_id as "domainId", name, algorithm, emergency from queue, busy
     where place <= at_most - busy.number order by place limit :limit`,
    { limit },
  )
}

/**
 * Counts the rollovers in each phase, and the seconds since the oldest one entered it, without those that wait for
 * others, and those of paused or suspended domains.
 */
export async function state(db: Db): Promise<{ phase: Phase; number: number; age: number }[]> {
  return query(
    db,
    `select phase, count(*) as number,
       cast(coalesce(extract(epoch from now() - min(since) filter (where not paused and suspended is null and (confirmed or not ${WAITS_FOR_OTHERS}))), 0) as float8) as age
     from rollovers join domains on id = domain_id group by phase`,
  )
}
