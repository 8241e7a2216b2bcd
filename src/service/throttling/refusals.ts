import { type Scope, SHARED_RATES } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as store from '../../store/windows.ts'
import type { System } from '../../system.ts'
import { fromMicroseconds, type Timestamp } from '../../time.ts'
import { multiplied } from './rates.ts'
import { dailyRates } from './throttling.ts'

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
export async function refusalsOf(system: System, account: Account, tokenIds: string[]): Promise<FullWindow[]> {
  const callers = [account.id, `logins of ${account.id}`, ...tokenIds]
  const windows = await store.ofCallers(system.db, callers, Date.now())
  return windows.flatMap(({ scope, length, caller, domain, used, ends }) => {
    const rates = scope === 'user' ? dailyRates(system, account) : system.config.throttleRates[scope as Scope]
    const quotas = multiplied(rates, caller === account.id ? SHARED_RATES : 1)
    const isFull = quotas.some(({ requests, seconds }) => seconds === length && used >= requests)
    return isFull
      ? { scope, length, caller, domain: domain || null, ends: fromMicroseconds(BigInt(ends) * 1000n)! }
      : []
  })
}
