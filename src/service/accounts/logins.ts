import { Denied, Throttled } from '../../errors.ts'
import { LOGIN_AGE, LOGIN_UNUSED_PERIOD, TOKENS_MAX } from '../../limits.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import * as passkeys from '../../store/accounts/passkeys.ts'
import * as factors from '../../store/accounts/second-factors.ts'
import { type Db, transaction } from '../../store/database.ts'
import * as store from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { provePasskey, tellingOfCopies } from '../passkeys/passkey-proof.ts'
import { type Assertion, type Site, unknownPasskey } from '../passkeys/webauthn.ts'
import { networkOf } from '../throttling/callers.ts'
import { recordFailure } from '../throttling/failures.ts'
import { waitingTime, windowsFor } from '../throttling/rates.ts'
import { withRights } from '../tokens/rights.ts'
import { add, type NewToken } from '../tokens/tokens.ts'
import { type Credentials, withPassword } from './credentials.ts'

/** The settings of login tokens (contract §11.2). */
export const LOGIN_SETTINGS = {
  name: 'login',
  maxUnusedPeriod: LOGIN_UNUSED_PERIOD,
  permCreateDomain: true,
  permDeleteDomain: true,
  permManageTokens: true,
}

/** Creates a login token if the password is right. @throws Denied, Throttled */
export async function login(system: System, credentials: Credentials): Promise<NewToken> {
  return withPassword(system, credentials, async (trx, { id }) => {
    const made = await addLogin(system, trx, id, credentials.address)
    record(system, trx, 'token_created', { account: id, token: made.token.id, by: 'password' })
    return made
  })
}

/**
 * Creates a login token of an account, which is locked, and deletes expired ones. Of an account with a second factor, a
 * network gets as many before it as it may fail; beyond TOKENS_MAX, the oldest ones go.
 * @param mfa whether the login has passed a second factor
 * @throws Denied, Throttled
 */
export async function addLogin(
  system: System,
  trx: Db,
  id: string,
  address: string,
  { mfa = false, maxAge = LOGIN_AGE } = {},
): Promise<NewToken> {
  await store.removeExpiredLogins(trx, id, system.now())
  if (!mfa && (await factors.count(trx, id)) > 0) {
    const counted = await system.counters?.count(windowsFor(system, 'login_failure', `${networkOf(address)} to ${id}`))
    const wait = waitingTime(counted ?? [])
    if (wait !== undefined) throw new Throttled(wait, 'login_failure')
    await store.removeHalfOpen(trx, id, TOKENS_MAX - 1)
  }
  return add(system, trx, id, { ...LOGIN_SETTINGS, maxAge }, { mfa })
}

/**
 * Creates a login token for the account whose passkey has signed a challenge that was made for nobody, as after a second
 * factor.
 * @param address the client's IP address
 * @throws Invalid, Denied
 */
export async function loginWithPasskey(
  system: System,
  passkey: Assertion,
  site: Site,
  address: string,
): Promise<NewToken> {
  const known = await passkeys.withCredential(system.db, Buffer.from(passkey.id, 'base64url'))
  const failed = (account: string | null, error: Error) => {
    void recordFailure(system, 'login_failed', { account, by: 'passkey' })
    return error
  }
  if (known === undefined) throw failed(null, unknownPasskey())
  const { accountId } = known
  // The browser has chosen the account, so the authenticator must name it (Web Authentication Level 3, §7.2).
  if (passkey.userHandle === null) throw failed(accountId, unknownPasskey())
  const isFor = ({ tokenId }: { tokenId: string | null }) => tokenId === null
  return tellingOfCopies(system, () =>
    transaction(system.db, async (trx) => {
      const account = await accounts.lock(trx, accountId)
      if (account === undefined) throw failed(null, unknownPasskey())
      await provePasskey(system, trx, account, passkey, { site, isFor, failure: 'login_failed', by: 'passkey' })
      if (account.state !== 'active') throw failed(accountId, new Denied('User inactive.'))
      await accounts.addKnownNetwork(trx, accountId, networkOf(address), { isProved: true })
      const made = await addLogin(system, trx, accountId, address, { mfa: true })
      record(system, trx, 'token_created', { account: accountId, token: made.token.id, by: 'passkey' })
      return made
    }),
  )
}

/** Deletes the presented token, even if it is an API token. */
export async function logout(visit: Visit): Promise<void> {
  const { system, actor } = visit
  await withRights(visit, 'logout', [`token ${actor.tokenId}`], async (trx) => {
    await store.remove(trx, actor.tokenId)
    record(system, trx, 'token_deleted', { account: actor.accountId, token: actor.tokenId, by: actor.tokenId })
  })
}
