import { LOGIN_AGE, LOGIN_UNUSED_PERIOD } from '../../limits.ts'
import * as store from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
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

/** Creates a login token if the password is right, and deletes expired ones. @throws Denied, Throttled */
export async function login(system: System, credentials: Credentials): Promise<NewToken> {
  const { accountId, made } = await withPassword(system, credentials, async (trx, { id }) => {
    await store.removeExpiredLogins(trx, id, system.now())
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
