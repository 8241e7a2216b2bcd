import type { System } from '../../system.ts'
import { HOUR } from '../../time.ts'
import { type Refusal, storeRefusal, tell } from '../events.ts'
import { networkOf } from './callers.ts'
import { isFull } from './counters.ts'
import { windowsFor } from './rates.ts'

/** Refusals of a kind that the activity of an account has, of each hour: those of a network, and of all. */
const KEPT_OF_NETWORK = 1
const KEPT = 20

/**
 * Tells of a refusal, whose request fails as it does, also if that cannot be stored. The log has all of them, the activity
 * of the account only some: strangers cause them (contract §15.15).
 */
export async function recordFailure(
  system: System,
  event: Refusal['event'],
  { account, by }: Omit<Refusal, 'event'>,
): Promise<void> {
  tell(system, event, { account, by })
  if (account === null) return
  const storing = storeSome(system, { event, account, by })
  // Otherwise the time of the answer would tell whether there is such an account.
  if (event !== 'login_failed') await storing
}

async function storeSome(system: System, refusal: Refusal & { account: string }): Promise<void> {
  const { counters, address } = system
  const of = `${refusal.event} of ${refusal.account}`
  // Where the log shows networks, entries of one look the same.
  const network = address?.includes('/') === false ? networkOf(address) : address
  const hourly = (key: string, requests: number) =>
    windowsFor(system, 'login_failure_per_account', key, [{ requests, seconds: HOUR }])
  const counted = await counters?.count([...hourly(`${of} by ${network ?? ''}`, KEPT_OF_NETWORK), ...hourly(of, KEPT)])
  if (counted?.some(isFull) !== true) await storeRefusal(system, refusal)
}
