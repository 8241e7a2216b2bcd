import { LOGIN_AGE, LOGIN_UNUSED_PERIOD } from '../../limits.ts'
import * as store from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../tokens/actor.ts'
import { withPassword, type Credentials } from './credentials.ts'
import { add, type NewToken } from '../tokens/tokens.ts'

/** What a login token may do, and for how long (contract §11.2). */
const SETTINGS = {
  name: 'login',
  maxAge: LOGIN_AGE,
  maxUnusedPeriod: LOGIN_UNUSED_PERIOD,
  permCreateDomain: true,
  permDeleteDomain: true,
  permManageTokens: true,
}

/** A login token for who knows the account's password; those that have expired are deleted. @throws Denied, Throttled */
export async function login(system: System, credentials: Credentials): Promise<NewToken> {
  return withPassword(system, credentials, async (trx, { id }) => {
    await store.removeExpiredLogins(trx, id, system.now())
    return add(system, trx, id, SETTINGS, false)
  })
}

/** Deletes the token that was presented, of whatever kind. */
export async function logout(system: System, { tokenId }: Actor): Promise<void> {
  await store.remove(system.db, tokenId)
}
