import type { Pool } from 'pg'
import { type Db, one } from '../database.ts'
import { type Viewer, visibleTo } from '../domains/visibility.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'
import { COLUMNS, OCTETS, type RRset } from './rrsets.ts'

/** An RRset and the name of its domain. */
export interface FoundRRset extends RRset {
  domain: string
}

/** What the RRsets of a search have; undefined: anything. */
export interface Criteria {
  /** The canonical content of one of the records. */
  content?: string | undefined
  /** The full name, without final dot, and the names of all domains that can have it. */
  name?: { full: string; domains: string[] } | undefined
  type?: string | undefined
  /** The name of the domain. */
  domain?: string | undefined
}

/** Returns a page of the RRsets in all domains that the viewer can see, newest first. */
export async function page(pool: Pool, viewer: Viewer, criteria: Criteria, cursor?: Cursor): Promise<Page<FoundRRset>> {
  const table = `(${matching(viewer, criteria)}) as found`
  const list = { table, columns: '*', octets: OCTETS, conditions: ['true'], bindings: bindings(viewer, criteria) }
  return pageOf<FoundRRset>(pool, list, cursor)
}

/** Counts the RRsets of `page`. */
export async function count(db: Db, viewer: Viewer, criteria: Criteria): Promise<number> {
  const sql = `select count(*) as n from (${matching(viewer, criteria)}) as found`
  return (await one<{ n: number }>(db, sql, bindings(viewer, criteria))).n
}

/**
 * Selects from one visible domain after the other, through the index: `offset 0` keeps Postgres from reading the RRsets
 * of all accounts instead, which it would expect to be faster if the account has many.
 */
function matching(viewer: Viewer, { content, name, type, domain }: Criteria): string {
  return `select found.*, domains.name as domain
    from domains cross join lateral (
      select ${COLUMNS}, rrsets.id from rrsets
      where rrsets.domain_id = domains.id
        ${content === undefined ? '' : 'and :content = any (rrsets.records)'}
        ${name === undefined ? '' : 'and rrsets.subname = left(:full, -char_length(domains.name) - 1)'}
        ${type === undefined ? '' : 'and rrsets.type = :type'}
      offset 0
    ) as found
    where ${visibleTo(viewer)}
      ${name === undefined ? '' : 'and domains.name = any (:domains)'}
      ${domain === undefined ? '' : 'and domains.name = :domain'}`
}

function bindings(viewer: Viewer, { name, ...others }: Criteria): Record<string, unknown> {
  return { ...viewer, ...others, ...name }
}

/** Returns the number of RRsets in all domains that the viewer can see, and the octets of their records. */
export async function extent(db: Db, viewer: Viewer): Promise<{ rrsets: number; octets: number }> {
  return one(
    db,
    `select cast(coalesce(sum(size), 0) as float8) as rrsets, cast(coalesce(sum(record_octets), 0) as float8) as octets
     from domains where ${visibleTo(viewer)}`,
    { ...viewer },
  )
}
