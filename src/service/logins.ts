import * as tokens from '../store/tokens.ts'
import type { System } from '../system.ts'
import type { Actor } from './actor.ts'
import { hashSecret } from './authentication.ts'
import { withPassword, type Credentials } from './credentials.ts'
import { generateSecret } from './secrets.ts'

/** A new login token of who knows the account's password. @throws Denied, Throttled */
export async function login(system: System, credentials: Credentials): Promise<{ token: string }> {
  return withPassword(system, credentials, async (trx, { id }) => {
    const now = system.now()
    await tokens.removeExpiredLogins(trx, id, now)
    const secret = generateSecret()
    await tokens.insertLogin(trx, { ownerId: id, secretHash: hashSecret(secret), now })
    return { token: secret }
  })
}

/** Deletes the token that was presented, of whatever kind. */
export async function logout(system: System, { tokenId }: Actor): Promise<void> {
  await tokens.remove(system.db, tokenId)
}
