import { orNotFound } from '../../errors.ts'
import { CLOCK_SKEW } from '../../limits.ts'
import * as signIns from '../../store/accounts/sign-ins.ts'
import { transaction } from '../../store/database.ts'
import * as sessions from '../../store/tokens/sign-on-sessions.ts'
import type { System } from '../../system.ts'
import { record } from '../events.ts'
import { changing, reserve } from '../tokens/rights.ts'

/**
 * Ends the sessions that a logout token of the issuer names (OpenID Connect Back-Channel Logout 1.0), and the sign-ins
 * that are about to become some. Later ones stay, so a token that is sent again ends nothing new.
 * @throws Invalid if the token is not valid; Busy
 */
export async function endSessions(system: System, logoutToken: string): Promise<void> {
  const { issuer, sub = null, sid = null, issued } = await orNotFound(system.issuer).readLogout(logoutToken)
  const named = { issuer, sub, sid }
  const until = new Date((issued + CLOCK_SKEW) * 1000).toISOString()
  for (const id of await sessions.accountsOf(system.db, named)) {
    await changing(system, `logouts of ${id}`, [`account ${id}`], () =>
      transaction(system.db, async (trx) => {
        await reserve(trx, `account ${id}`)
        await signIns.voidCodes(trx, id, sid ?? undefined)
        for (const token of await sessions.remove(trx, id, named, until))
          record(system, trx, 'token_deleted', { account: id, token, by: 'sign-on' })
      }),
    )
  }
}
