import { Throttled } from '../../errors.ts'
import { LOGIN_AGE, LOGIN_UNUSED_PERIOD, TOKENS_MAX } from '../../limits.ts'
import * as factors from '../../store/accounts/totp-factors.ts'
import * as store from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { networkOf } from '../throttling/callers.ts'
import { waitingTime, windowsFor } from '../throttling/rates.ts'
import { withRights } from '../tokens/rights.ts'
import { add, type NewToken } from '../tokens/tokens.ts'
import { type Credentials, withPassword } from './credentials.ts'

/** The settings of login tokens (contract §11.2). */
const SETTINGS = {
  name: 'login',
  maxAge: LOGIN_AGE,
  maxUnusedPeriod: LOGIN_UNUSED_PERIOD,
  permCreateDomain: true,
  permDeleteDomain: true,
  permManageTokens: true,
}

/**
 * Creates a login token if the password is right, and deletes expired ones. Of an account with a second factor, a
 * network gets as many before it as it may fail; beyond TOKENS_MAX, the oldest ones go. @throws Denied, Throttled
 */
export async function login(system: System, credentials: Credentials): Promise<NewToken> {
  const { accountId, made } = await withPassword(system, credentials, async (trx, { id }) => {
    await store.removeExpiredLogins(trx, id, system.now())
    if ((await factors.used(trx, id)).length > 0) {
      const identity = `${networkOf(credentials.address)} to ${id}`
      const counted = await system.counters?.count(windowsFor(system, 'login_failure', identity))
      const wait = waitingTime(counted ?? [])
      if (wait !== undefined) throw new Throttled(wait, 'login_failure')
      await store.removeHalfOpen(trx, id, TOKENS_MAX - 1)
    }
    return { accountId: id, made: await add(system, trx, id, SETTINGS, { mfa: false }) }
  })
  record(system, 'token_created', { account: accountId, token: made.token.id, by: 'password' })
  return made
}

/** Deletes the presented token, even if it is an API token. */
export async function logout(visit: Visit): Promise<void> {
  const { system, actor } = visit
  await withRights(visit, 'logout', [`token ${actor.tokenId}`], (trx) => store.remove(trx, actor.tokenId))
  record(system, 'token_deleted', { account: actor.accountId, token: actor.tokenId, by: actor.tokenId })
}
