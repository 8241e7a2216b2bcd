import type { Pool } from 'pg'
import { begin, type Db, one } from './database.ts'

/** Work that one process at a time does. */
export type Work =
  | 'catalog zones'
  | 'checks at the parent'
  | 'limits of histories'
  | 'rollovers'
  | 'rollover notices'
  | 'rollovers at parents'
  | 'signalling zones'
  | 'webhooks'

/** Takes the turn to do this work until the transaction ends. Returns false if another process has it. */
export async function takeTurn(trx: Db, work: Work): Promise<boolean> {
  const sql = 'select pg_try_advisory_xact_lock(hashtextextended(:work, 0)) as free'
  return (await one<{ free: boolean }>(trx, sql, { work })).free
}

/** Runs `run` with the turn to do this work. Returns false, without running it, if another process has the turn. */
export async function exclusively(pool: Pool, work: Work, run: () => Promise<void>): Promise<boolean> {
  await using transaction = await begin(pool)
  if (!(await takeTurn(transaction.db, work))) return false
  await run()
  return true
}
