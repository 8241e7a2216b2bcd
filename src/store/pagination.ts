import type { Pool } from 'pg'
import { PAGE_OCTETS, PAGE_SIZE, SEARCHED_ENTRIES, SEARCHED_OCTETS } from '../limits.ts'
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
  /**
   * What an entry must fulfil, too, with the octets that this costs, if no index finds it. Then there is one condition, and a
   * page ends after SEARCHED_ENTRIES or SEARCHED_OCTETS: it may have few entries or none, although others follow.
   */
  test?: { condition: string; octets: string }
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
  const reach = await reachOf(pool, list, cursor)
  const [rows, hasBehind] = await together(pool, (db) =>
    Promise.all([
      ahead<Row & Ahead>(db, within(list, reach, towards), cursor),
      cursor !== undefined && isAnyBehind(db, list, cursor),
    ]),
  )
  const hasMore = rows.length > PAGE_SIZE || (rows.at(-1)?.total ?? 0) > PAGE_OCTETS
  if (hasMore) rows.pop()
  const end = hasMore ? rows.at(-1) : following(reach)
  const onwards = end && { ...position(end), towards }
  const backwards = hasBehind
    ? { ...startOf(towards, reach?.first ?? rows[0], cursor), towards: REVERSE[towards] }
    : undefined
  return towards === 'older'
    ? { rows, newer: backwards, older: onwards }
    : { rows: rows.reverse(), newer: onwards, older: backwards }
}

/** Where the entries begin that a page has not looked at; undefined if there are none. */
function following(reach: Reach | undefined): Position | undefined {
  return reach?.hasMore === true ? reach.last : undefined
}

/** @param first undefined: no entries are left ahead, so the page behind is the last one of the list */
function startOf(towards: Direction, first: Position | undefined, cursor: Cursor | undefined): Position {
  return first === undefined ? { id: cursor?.id ?? 0, created: LAST[towards] } : position(first)
}

function position({ created, id }: Position): Position {
  return { created, id }
}

/** The entries that a page of a list with a test looks at: the first and the last one, and whether others follow. */
interface Reach {
  first: Position
  last: Position
  hasMore: boolean
}

/** @returns undefined if the list has no test, or no entries are ahead */
async function reachOf(db: Db, list: List, cursor?: Cursor): Promise<Reach | undefined> {
  const { table, conditions, test, bindings } = list
  if (test === undefined) return undefined
  const { order, from } = courseOf(cursor)
  const rows = await query<Position & { isLast: boolean }>(
    db,
    `with near as materialized (
         select created, id, row_number() over w as rank, sum(octets) over w - octets as before
         from (
           select created, id, ${test.octets} as octets from ${table}
           where ${conditions[0]!} ${from} ${order} limit ${SEARCHED_ENTRIES + 1}
         ) as entries window w as (${order} rows unbounded preceding)
       ),
       seen as (select max(rank) as last from near where rank <= ${SEARCHED_ENTRIES} and before < ${SEARCHED_OCTETS})
     select created, id, rank = (select max(rank) from near) as "isLast" from near, seen
     where rank in (1, seen.last) order by rank`,
    { ...bindings, ...(cursor && position(cursor)) },
  )
  const [first, last = first] = rows
  return first && { first, last: last!, hasMore: !last!.isLast }
}

/** The list with its test, for the entries that a page looks at alone. */
function within(list: List, reach: Reach | undefined, towards: Direction): List {
  const { conditions, test, bindings } = list
  if (test === undefined) return list
  if (reach === undefined) return { ...list, conditions: ['false'] }
  const { created, id } = reach.last
  const span = `(created, id) ${towards === 'older' ? '>=' : '<='} (:lastCreated, :lastId)`
  return {
    ...list,
    conditions: [`${conditions[0]!} and ${span} and ${test.condition}`],
    bindings: { ...bindings, lastCreated: created, lastId: id },
  }
}

/** The order in which a page goes through its list, and the condition that leaves out what comes before its cursor. */
function courseOf(cursor: Cursor | undefined): { order: string; from: string } {
  const isNewer = cursor?.towards === 'newer'
  return {
    order: `order by ${isNewer ? 'created, id' : 'created desc, id desc'}`,
    from: cursor === undefined ? '' : `and (created, id) ${isNewer ? '>' : '<'} (:created, :id)`,
  }
}

interface Ahead extends Position {
  /** The octets from the beginning of the page up to this entry. */
  total: number
}

/** Returns the entries from a cursor on, nearest first: one more than a page has, to detect another page. */
async function ahead<Row>(db: Db, list: List, cursor?: Cursor): Promise<Row[]> {
  const { table, columns, octets = '0', joins = '', conditions, bindings } = list
  const { order, from } = courseOf(cursor)
  const limited = `${order} limit ${PAGE_SIZE + 1}`
  const branches = conditions.map(
    (condition) => `(select ${columns} from ${table} where ${condition} ${from} ${limited})`,
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
