import { type Db, query } from '../../../src/store/database.ts'
import { eventually } from '../eventually.ts'
import type { TestServers } from '../harness.ts'

/**
 * Breaks the connections of all transactions that wait for their next statement, once there are any, and no statement of a
 * write runs any more: it would be spared. Returns how many.
 */
export async function breakTransactions({ system }: TestServers): Promise<number> {
  const sql = `with sessions as (select * from pg_stat_activity where datname = current_database())
     select pg_terminate_backend(pid) from sessions where state = 'idle in transaction' and not exists (
       select from sessions
         where state = 'active' and backend_xid is not null and wait_event_type is distinct from 'Lock')`
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

/** How many transactions wait for rights, which others keep or change. */
export async function waitingForRights(db: Db): Promise<number> {
  const sql = `select from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`
  return (await query(db, sql)).length
}
