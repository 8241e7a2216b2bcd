import type { Pool } from 'pg'
import { type Db, maybeOne, one, query } from './database.ts'
import { alone, type ZoneChange } from './standbys.ts'

/** The active primary of PowerDNS, as all processes know it (primaries.md). */
export interface Primary {
  /** The number of the change-over that made it the active one; only grows. */
  term: number
  name: string
}

/** Returns the active primary; undefined: there has never been more than one. */
export async function find(db: Db): Promise<Primary | undefined> {
  return maybeOne(db, 'select term, name from primaries')
}

/** Returns the active primary. @param first the active one of a cluster that has none yet */
export async function current(db: Db, first: string): Promise<Primary> {
  const found = await find(db)
  if (found !== undefined) return found
  await query(db, 'insert into primaries (term, name) values (1, :first) on conflict do nothing', { first })
  return one(db, 'select term, name from primaries')
}

/** Notes that the active primary of this term has just answered. */
export async function hear(db: Db, term: number): Promise<void> {
  await query(db, 'update primaries set heard = clock_timestamp() where term = :term', { term })
}

/**
 * Makes another primary the active one, unless somebody has changed over since this term, or a process has had an answer
 * within the seconds of `silence`. All commits under the term have ended then.
 * @param also work in the same transaction
 * @returns whether it did
 */
export async function change(
  pool: Pool,
  term: number,
  name: string,
  silence: number,
  also?: (trx: Db) => Promise<void>,
): Promise<boolean> {
  const sql = `update primaries set term = term + 1, name = :name, since = clock_timestamp(), heard = clock_timestamp()
    where term = :term and heard <= clock_timestamp() - :silence * interval '1 second' returning term`
  return alone(pool, async (trx) => {
    const isDone = (await maybeOne(trx, sql, { term, name, silence })) !== undefined
    if (isDone) await also?.(trx)
    return isDone
  })
}

/**
 * Fails a transaction that has published at the primary of an earlier term; until it ends, nobody changes over. Notes the
 * changed zones as behind at standbys that have databases of their own. It must be the last statement of the transaction.
 * @param changes by zone; undefined: anything may have changed
 * @throws Unavailable
 */
export async function requireTerm(trx: Db, term: number, changes: Map<string, ZoneChange | undefined>): Promise<void> {
  const list = Array.from(changes, ([zone, change]) => ({ zone, ...change }))
  await query(trx, 'select require_primary_term(:term, :changes)', { term, changes: JSON.stringify(list) })
}
