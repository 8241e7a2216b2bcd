import { type Scope, SHARED_RATES } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as store from '../../store/windows.ts'
import type { System } from '../../system.ts'
import { DAY, fromMicroseconds, type Timestamp } from '../../time.ts'

/** A window of an account that is full: requests that would count there get 429 until it ends. */
export interface FullWindow {
  scope: string
  /** Seconds. */
  length: number
  /** The id of a token, `logins of …`, or the account's id: all its API tokens. */
  caller: string
  /** In scopes that count each domain separately. */
  domain: string | null
  ends: Timestamp
}

/** Returns the full windows of an account, and of these tokens. Counts of THROTTLE_STORE=memory are in no database. */
export async function refusalsOf({ db, config }: System, account: Account, tokenIds: string[]): Promise<FullWindow[]> {
  const callers = [account.id, `logins of ${account.id}`, ...tokenIds]
  const windows = await store.ofCallers(db, callers, Date.now())
  return windows.flatMap(({ scope, length, caller, domain, used, ends }) => {
    const isOwnRate = scope === 'user' && account.dailyRate !== null && length === DAY
    const quota = isOwnRate
      ? account.dailyRate!
      : (config.throttleRates[scope as Scope].find(({ seconds }) => seconds === length)?.requests ?? Infinity)
    const isFull = used >= quota * (caller === account.id ? SHARED_RATES : 1)
    return isFull
      ? { scope, length, caller, domain: domain || null, ends: fromMicroseconds(BigInt(ends) * 1000n)! }
      : []
  })
}
