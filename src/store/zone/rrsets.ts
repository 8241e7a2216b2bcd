import type { Pool } from 'pg'
import { stringify } from '../../flow/slices.ts'
import { COLLECTION_ITEMS } from '../../limits.ts'
import type { Timestamp } from '../../time.ts'
import { allOf } from '../connections/failures.ts'
import { sendAlong } from '../connections/prepared-query.ts'
import { begin, type Db, one, query } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'

/** RRsets of a zone file that are read at once from the database: each may have some 64,000 octets. */
const PORTION = 100

/** After a portion in which no RRset has more than SMALL characters, the next one is larger: round trips take long. */
const LARGE_PORTION = 2_000
const SMALL = 300

export interface RRset {
  subname: string
  type: string
  ttl: number
  /** Canonical contents, in the order in which they were last written. */
  records: string[]
  created: Timestamp
  touched: Timestamp
}

/** Identifies an RRset within its domain. */
export type RRsetKey = Pick<RRset, 'subname' | 'type'>

/** The members of an RRset that a write sets. */
export type RRsetState = Pick<RRset, 'subname' | 'type' | 'ttl' | 'records'>

export const COLUMNS = 'rrsets.subname, rrsets.type, rrsets.ttl, rrsets.records, rrsets.created, rrsets.touched'

/** The octets of the records in memory: Postgres stores them compressed, perhaps to a hundredth. */
export const OCTETS = "pg_column_size(array_cat(records, '{}'))"

/** Returns the RRsets of a domain: all, or those at some subnames, and the delegations and DNAMEs at others. */
export async function atSubnames(
  db: Db,
  domainName: string,
  names: { subnames: string[]; ancestors: string[] } | 'all',
): Promise<RRset[]> {
  const ofDomain = 'rrsets.domain_id = (select id from domains where name = :domainName)'
  if (names === 'all') return query<RRset>(db, `select ${COLUMNS} from rrsets where ${ofDomain}`, { domainName })
  // A join, because Postgres would compare each RRset with each element of an array in turn.
  return query<RRset>(
    db,
    `select ${COLUMNS}
     from (select unnest(cast(:subnames as text[])), false union all select unnest(cast(:ancestors as text[])), true)
       as asked (subname, "onlyCuts")
     join rrsets on ${ofDomain} and rrsets.subname = asked.subname
       and (not asked."onlyCuts" or rrsets.type in ('NS', 'DNAME'))`,
    { domainName, ...names },
  )
}

/** Returns all delegations and DNAMEs of a domain. Takes time linear in the number of its RRsets. */
export async function cuts(db: Db, domainId: number): Promise<RRsetKey[]> {
  return query(db, `select subname, type from rrsets where domain_id = :domainId and type in ('NS', 'DNAME')`, {
    domainId,
  })
}

/**
 * Finds, for each of these new delegations and DNAMEs, one RRset of the domain that it would occlude (contract §8.10),
 * without those in `removed`.
 */
export async function belowCuts(db: Db, domainId: number, added: RRsetKey[], removed: RRsetKey[]): Promise<RRsetKey[]> {
  const ranges = added.map(({ subname, type }) => ({ all: type === 'DNAME', ...rangeBelow(subname) }))
  return query(
    db,
    `select below.subname, below.type
     from json_to_recordset(:ranges) as cut ("all" boolean, low text, high text)
     cross join lateral (
       select subname, type from rrsets
       where domain_id = :domainId
         and reverse(subname) collate "C" >= cut.low and reverse(subname) collate "C" < cut.high
         and (cut."all" or type in ('NS', 'DS'))
         and (subname, type) not in (select * from json_to_recordset(:removed) as gone (subname text, type text))
       order by reverse(subname) collate "C" limit 1
     ) as below`,
    { domainId, ranges: await stringify(ranges), removed: await keysJson(removed) },
  )
}

/**
 * Reports whether empty non-terminals come or go with these subnames: one of them has names below it, or one of the
 * ancestors has no RRsets.
 */
export async function haveNonTerminals(
  db: Db,
  domainId: number,
  subnames: string[],
  ancestors: string[],
): Promise<boolean> {
  const { found } = await one<{ found: boolean }>(
    db,
    `select (select count(distinct subname) from rrsets where domain_id = :domainId and subname = any (:ancestors)) < :count
       or exists (
         select from json_to_recordset(:ranges) as name (low text, high text)
         cross join lateral (
           select from rrsets
           where domain_id = :domainId
             and reverse(subname) collate "C" >= name.low and reverse(subname) collate "C" < name.high
           limit 1
         ) as below
       ) as found`,
    { domainId, ancestors, count: ancestors.length, ranges: JSON.stringify(subnames.map(rangeBelow)) },
  )
  return found
}

/** Returns the bounds of the reversed subnames below a name. */
function rangeBelow(subname: string): { low: string; high: string } {
  const reversed = Array.from(subname).reverse().join('')
  // Of the characters in names, `*` is the first and `z` the last; `/` comes after the dot.
  return subname === '' ? { low: '*', high: '{' } : { low: `${reversed}.`, high: `${reversed}/` }
}

/** The subname and type that an RRset must have. */
export interface Filter {
  subname?: string | undefined
  type?: string | undefined
}

/** The RRsets of a list: also those whose subnames contain a text. */
export interface ListFilter extends Filter {
  search?: string | undefined
}

/** Returns the domain's RRsets that match the filter. */
export async function list(db: Db, domainId: number, filter: Filter = {}): Promise<RRset[]> {
  return query<RRset>(db, `select ${COLUMNS} from rrsets where ${matching(filter)}`, { domainId, ...filter })
}

/** Returns a page of the domain's RRsets that match the filter, newest first. */
export async function page(pool: Pool, domainId: number, filter: ListFilter, cursor?: Cursor): Promise<Page<RRset>> {
  const columns = `${COLUMNS}, rrsets.id`
  const list = {
    table: 'rrsets',
    columns,
    octets: OCTETS,
    conditions: [matching(filter)],
    bindings: { domainId, ...filter },
  }
  return pageOf<RRset>(pool, list, cursor)
}

/** Returns the largest TTL of the domain's RRsets, in seconds, in time linear in their number. */
export async function largestTtl(db: Db, domainId: number): Promise<number> {
  const sql = 'select coalesce(max(ttl), 0) as ttl from rrsets where domain_id = :domainId'
  return (await one<{ ttl: number }>(db, sql, { domainId })).ttl
}

/** Counts the domain's RRsets that match the filter. */
export async function count(db: Db, domainId: number, filter: ListFilter): Promise<number> {
  const sql = `select count(*) as n from rrsets where ${matching(filter)}`
  return (await one<{ n: number }>(db, sql, { domainId, ...filter })).n
}

function matching({ subname, type, search }: ListFilter): string {
  return `domain_id = :domainId ${subname === undefined ? '' : 'and subname = :subname'}
     ${type === undefined ? '' : 'and type = :type'} ${search === undefined ? '' : 'and strpos(subname, :search) > 0'}`
}

/**
 * Returns the domain's RRsets that match the filter, sorted by subname and type, in portions of one snapshot, and its
 * version with each; none if the domain is deleted.
 */
export async function* snapshot(
  pool: Pool,
  domainId: number,
  { subname, type }: Filter = {},
): AsyncGenerator<{ version: number; rrsets: RRsetState[] }> {
  await using trx = await begin(pool)
  // Sent with the first portion.
  const declared = sendAlong(
    query(
      trx.db,
      `declare portions no scroll cursor for
     select domains.version, rrsets.subname, rrsets.type, rrsets.ttl, rrsets.records
     from domains left join rrsets on rrsets.domain_id = domains.id
       ${subname === undefined ? '' : 'and subname = :subname'} ${type === undefined ? '' : 'and type = :type'}
     where domains.id = :domainId
     order by rrsets.subname collate "C", rrsets.type collate "C"`,
      { domainId, subname, type },
    ),
  )
  type Row = { version: number } & (RRsetState | { subname: null })
  for (let portion = PORTION; ;) {
    const [, rows] = await allOf([declared, query<Row>(trx.db, `fetch ${portion} from portions`)])
    const [first] = rows
    if (first === undefined) return
    yield { version: first.version, rrsets: rows.filter((row) => row.subname !== null) }
    if (rows.length < portion) return
    const isSmall = rows.every((row) => row.subname === null || row.records.join().length <= SMALL)
    portion = isSmall ? LARGE_PORTION : PORTION
  }
}

/** What a domain gains by a write; negative if it loses more. */
export interface Growth {
  rrsets: number
  /** Of records. */
  octets: number
}

/** The changes that a write makes to a domain. */
export interface Outcome {
  removed: RRsetKey[]
  /** Created or replaced. */
  written: RRsetState[]
  growth: Growth
  /** Of the entry that the domain's history gets. */
  historyOctets: number
  version: number
  rectify: boolean
  now: Timestamp
}

/** Deletes, creates and replaces RRsets, in at most two statements for as many RRsets as a request may have. */
export async function apply(trx: Db, domainId: number, outcome: Outcome): Promise<void> {
  const { removed, written, growth, historyOctets, ...state } = outcome
  if (removed.length > 0) {
    await query(
      trx,
      `delete from rrsets using json_to_recordset(:removed) as gone (subname text, type text)
       where rrsets.domain_id = :domainId and rrsets.subname = gone.subname and rrsets.type = gone.type`,
      { domainId, removed: await keysJson(removed) },
    )
  }
  for (let from = 0; from === 0 || from < written.length; from += COLLECTION_ITEMS) {
    const batch = written.slice(from, from + COLLECTION_ITEMS)
    await query(
      trx,
      `with domain as (
         update domains
         set version = :version, rectify = :rectify, size = size + :rrsets, record_octets = record_octets + :octets,
           history_octets = history_octets + :historyOctets, published = :now, touched = :now
         where id = :domainId
       )
       insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select :domainId, subname, type, ttl, records, :now, :now
       from json_to_recordset(:batch) as item (subname text, type text, ttl integer, records text[])
       on conflict on constraint rrsets_identity
         do update set ttl = excluded.ttl, records = excluded.records, touched = excluded.touched`,
      {
        ...{
          domainId,
          ...state,
          ...(from === 0 ? { ...growth, historyOctets } : { rrsets: 0, octets: 0, historyOctets: 0 }),
        },
        batch: await stringify(batch, ({ subname, type, ttl, records }) => ({ subname, type, ttl, records })),
      },
    )
  }
}

/** Stores the time of accepted writes that changed nothing, in one statement. */
export async function touch(trx: Db, domainId: number, keys: RRsetKey[], now: Timestamp): Promise<void> {
  if (keys.length === 0) return
  await query(
    trx,
    `update rrsets set touched = :now from json_to_recordset(:keys) as item (subname text, type text)
     where rrsets.domain_id = :domainId and rrsets.subname = item.subname and rrsets.type = item.type`,
    { domainId, now, keys: await keysJson(keys) },
  )
}

async function keysJson(keys: RRsetKey[]): Promise<string> {
  return stringify(keys, ({ subname, type }) => ({ subname, type }))
}
