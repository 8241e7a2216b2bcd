import type { Pool } from 'pg'
import { PAGE_OCTETS, PAGE_SIZE } from '../limits.ts'
import type { Timestamp } from '../time.ts'
import { type Db, one, query, together } from './database.ts'

/** The sort key of an entry. Lists are sorted from the newest entry to the oldest. */
interface Position {
  created: Timestamp
  id: number | string
}

type Direction = 'older' | 'newer'

/** A page begins right after this position, in this direction. */
export interface Cursor extends Position {
  towards: Direction
}

/** Some entries of a list, and the cursors of the pages before and after them, if any. */
export interface Page<Row> {
  rows: Row[]
  newer: Cursor | undefined
  older: Cursor | undefined
}

/** A paginated list. */
export interface List {
  table: string
  /** The columns of an entry, with `created` and `id`. */
  columns: string
  /** The octets of an entry, about, in SQL, if so many may be large that a page ends before PAGE_SIZE. */
  octets?: string
  /** Laterals that add columns to the entries of a page, and of no others. */
  joins?: string
  /** An entry fulfils exactly one of these. They are queried one by one, so that an index returns the rows in order. */
  conditions: string[]
  bindings: Record<string, unknown>
}

const REVERSE: Record<Direction, Direction> = { older: 'newer', newer: 'older' }
const LAST: Record<Direction, Timestamp> = {
  older: '0001-01-01T00:00:00.000000Z',
  newer: '9999-12-31T23:59:59.999999Z',
}

/**
 * Returns a page of a list, by keyset: its cost does not depend on its position, and entries created or deleted
 * elsewhere do not move it. Without cursor it is the first page.
 */
export async function pageOf<Row>(pool: Pool, list: List, cursor?: Cursor): Promise<Page<Row>> {
  const towards = cursor?.towards ?? 'older'
  const [rows, hasBehind] = await together(pool, (db) =>
    Promise.all([ahead<Row & Ahead>(db, list, cursor), cursor !== undefined && isAnyBehind(db, list, cursor)]),
  )
  const hasMore = rows.length > PAGE_SIZE || (rows.at(-1)?.total ?? 0) > PAGE_OCTETS
  if (hasMore) rows.pop()
  const onwards = hasMore ? { ...position(rows.at(-1)!), towards } : undefined
  // If no entries are left ahead, the page behind is the last one of the list.
  const start = rows[0] === undefined ? { id: cursor?.id ?? 0, created: LAST[towards] } : position(rows[0])
  const backwards = hasBehind ? { ...start, towards: REVERSE[towards] } : undefined
  return towards === 'older'
    ? { rows, newer: backwards, older: onwards }
    : { rows: rows.reverse(), newer: onwards, older: backwards }
}

function position({ created, id }: Position): Position {
  return { created, id }
}

interface Ahead extends Position {
  /** The octets from the beginning of the page up to this entry. */
  total: number
}

/** Returns the entries from a cursor on, nearest first: one more than a page has, to detect another page. */
async function ahead<Row>(db: Db, list: List, cursor?: Cursor): Promise<Row[]> {
  const { table, columns, octets = '0', joins = '', conditions, bindings } = list
  const isNewer = cursor?.towards === 'newer'
  const order = `order by ${isNewer ? 'created, id' : 'created desc, id desc'}`
  const limited = `${order} limit ${PAGE_SIZE + 1}`
  const from = cursor && `and (created, id) ${isNewer ? '>' : '<'} (:created, :id)`
  const branches = conditions.map(
    (condition) => `(select ${columns} from ${table} where ${condition} ${from ?? ''} ${limited})`,
  )
  const sql = `select * from (
      select *, sum(${octets}) over (${order} rows unbounded preceding) as total
      from (${branches.join(' union all ')}) as entries ${limited}
    ) as page ${joins}
    where total - ${octets} <= ${PAGE_OCTETS} ${order}`
  return query(db, sql, { ...bindings, ...(cursor && position(cursor)) })
}

/** Reports whether entries exist on the other side of a cursor, or at it. */
async function isAnyBehind(db: Db, { table, conditions, bindings }: List, cursor: Cursor): Promise<boolean> {
  const comparison = cursor.towards === 'newer' ? '<=' : '>='
  const branches = conditions.map(
    (condition) => `exists (select from ${table} where ${condition} and (created, id) ${comparison} (:created, :id))`,
  )
  const sql = `select ${branches.join(' or ')} as found`
  return (await one<{ found: boolean }>(db, sql, { ...bindings, ...position(cursor) })).found
}
