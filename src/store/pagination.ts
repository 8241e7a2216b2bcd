import type { Pool } from 'pg'
import { PAGE_SIZE } from '../limits.ts'
import type { Timestamp } from '../time.ts'
import { query, together, type Db } from './database.ts'

/** An entry's place in a list, which goes from the newest to the oldest. */
interface Position {
  created: Timestamp
  id: number | string
}

type Direction = 'older' | 'newer'

/** Where a page begins: right behind this position, in this direction. */
export interface Cursor extends Position {
  towards: Direction
}

/** Some entries of a list, and what lies around them; undefined where nothing does. */
export interface Page<Row> {
  rows: Row[]
  newer: Cursor | undefined
  older: Cursor | undefined
}

/** What a list consists of. */
export interface List {
  table: string
  /** What an entry has; `created` and `id` among it. */
  columns: string
  /**
   * Which rows are entries: those that fulfil any of the conditions, and none may fulfil two. Each condition is looked
   * up on its own, so that an index gives its rows in order.
   */
  conditions: string[]
  bindings: Record<string, unknown>
}

const REVERSE: Record<Direction, Direction> = { older: 'newer', newer: 'older' }
const ENDS: Record<Direction, Timestamp> = {
  older: '0001-01-01T00:00:00.000000Z',
  newer: '9999-12-31T23:59:59.999999Z',
}

/**
 * A page of a list, by keyset: what it costs does not depend on how much lies around it, and entries that come or go
 * elsewhere do not move it. Without cursor it is the first page.
 */
export async function page<Row>(pool: Pool, list: List, cursor?: Cursor): Promise<Page<Row>> {
  const towards = cursor?.towards ?? 'older'
  const [rows, isBehind] = await together(pool, (db) =>
    Promise.all([ahead<Row & Position>(db, list, cursor), cursor !== undefined && behind(db, list, cursor)]),
  )
  const more = rows.length > PAGE_SIZE
  if (more) rows.pop()
  const onwards = more ? { ...position(rows.at(-1)!), towards } : undefined
  // Where nothing is left ahead, the page behind is the last one of the list.
  const start = rows[0] === undefined ? { id: cursor?.id ?? 0, created: ENDS[towards] } : position(rows[0])
  const backwards = isBehind ? { ...start, towards: REVERSE[towards] } : undefined
  return towards === 'older'
    ? { rows, newer: backwards, older: onwards }
    : { rows: rows.reverse(), newer: onwards, older: backwards }
}

function position({ created, id }: Position): Position {
  return { created, id }
}

/** The entries from a cursor on, nearest first: a page, and one more if there are more. */
async function ahead<Row>(db: Db, list: List, cursor: Cursor | undefined): Promise<Row[]> {
  const { table, columns, conditions, bindings } = list
  const order = cursor?.towards === 'newer' ? 'order by created, id' : 'order by created desc, id desc'
  const limited = `${order} limit ${PAGE_SIZE + 1}`
  const from = cursor === undefined ? '' : `and (created, id) ${cursor.towards === 'newer' ? '>' : '<'} (:created, :id)`
  const branches = conditions.map(
    (condition) => `(select ${columns} from ${table} where ${condition} ${from} ${limited})`,
  )
  const sql = `select * from (${branches.join(' union all ')}) as entries ${limited}`
  return query<Row>(db, sql, { ...bindings, ...(cursor && position(cursor)) })
}

/** Whether there are entries on the other side of a cursor, or at it. */
async function behind(db: Db, { table, conditions, bindings }: List, cursor: Cursor): Promise<boolean> {
  const comparison = cursor.towards === 'newer' ? '<=' : '>='
  const branches = conditions.map(
    (condition) => `exists (select from ${table} where ${condition} and (created, id) ${comparison} (:created, :id))`,
  )
  const [row] = await query<{ is: boolean }>(db, `select ${branches.join(' or ')} as is`, {
    ...bindings,
    ...position(cursor),
  })
  return row!.is
}
