import { QUEUE_TIMEOUT, WITHDRAWAL_TIMEOUT } from '../../limits.ts'
import { sendAlong } from '../connections/prepared-query.ts'
import { type Db, query } from '../database.ts'

/** The holder of rights: a token with its own; an account, or a membership, with those that tokens have through it. */
export type Holder = `token ${string}` | `account ${string}` | `member ${string}`

/**
 * Keeps the rights of some holders unchanged until the transaction ends, and reserves those of others for a change.
 * Several transactions may keep the same rights; all others wait for each other, and are served in turn, so that new
 * writes cannot delay a change. The locks are not those of rows, for which authentication would wait.
 *
 * A transaction calls this once, before it locks anything else; and all callers take the locks in the same order. So a
 * transaction that waits here keeps no other transaction waiting (architecture.md).
 * @throws Unavailable after QUEUE_TIMEOUT; if rights are to be changed, after WITHDRAWAL_TIMEOUT
 */
export async function lock(trx: Db, kept: Holder[], changed: Holder[]): Promise<void> {
  const holders = [...new Set([...kept, ...changed])].sort()
  const locking = `select case when holder = any (:changed) then cast(pg_advisory_xact_lock(key) as text)
      else cast(pg_advisory_xact_lock_shared(key) as text) end
    from (select holder, hashtextextended(holder, 3) as key from unnest(cast(:holders as text[])) as holder) as ordered`
  if (changed.length > 0) wait(trx, WITHDRAWAL_TIMEOUT)
  const locked = query(trx, locking, { holders, changed })
  if (changed.length > 0) wait(trx, QUEUE_TIMEOUT)
  await locked
}

/** Sets the time that the transaction waits for locks from now on; sent with the next statement. */
function wait(trx: Db, timeout: number): void {
  const sql = `select set_config('lock_timeout', :timeout, true)`
  void sendAlong(query(trx, sql, { timeout: String(timeout) }))
}
