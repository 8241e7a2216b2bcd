import { LOGIN_AGE, LOGIN_UNUSED_PERIOD } from '../../limits.ts'
import * as store from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../tokens/actor.ts'
import { withPassword, type Credentials } from './credentials.ts'
import { add, type NewToken } from '../tokens/tokens.ts'

/** The settings of login tokens (contract §11.2). */
const SETTINGS = {
  name: 'login',
  maxAge: LOGIN_AGE,
  maxUnusedPeriod: LOGIN_UNUSED_PERIOD,
  permCreateDomain: true,
  permDeleteDomain: true,
  permManageTokens: true,
}

/** Creates a login token if the password is right, and deletes expired ones. @throws Denied, Throttled */
export async function login(system: System, credentials: Credentials): Promise<NewToken> {
  return withPassword(system, credentials, async (trx, { id }) => {
    await store.removeExpiredLogins(trx, id, system.now())
    return add(system, trx, id, SETTINGS, false)
  })
}

/** Deletes the presented token, even if it is an API token. */
export async function logout(system: System, { tokenId }: Actor): Promise<void> {
  await store.remove(system.db, tokenId)
}
