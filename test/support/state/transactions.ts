import { type Db, query } from '../../../src/store/database.ts'
import { eventually } from '../eventually.ts'
import type { TestServers } from '../harness.ts'

/**
 * Breaks the connections of all transactions that wait for their next statement, once there are any: statements of a
 * write may still be running. Returns how many.
 */
export async function breakTransactions({ system }: TestServers): Promise<number> {
  const sql = `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and state = 'idle in transaction'`
  let broken = 0
  await eventually(async () => {
    broken = (await query(system.db, sql)).length
    return broken > 0
  })
  return broken
}

/** How many sessions of this database wait for locks. */
export async function waitingForLocks(db: Db): Promise<number> {
  const sql = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await query(db, sql)).length
}
