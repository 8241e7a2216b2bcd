import { Conflict } from '../../errors.ts'
import * as identities from '../../store/accounts/identities.ts'
import * as signIns from '../../store/accounts/sign-ins.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import { withEmail } from '../accounts/accounts.ts'
import { record } from '../events.ts'
import { withGroups } from './group-memberships.ts'

/**
 * Ends the links of an account with identities, so that another one can take their place. Its logins end, too, as they
 * may be of these, and the memberships of their groups. Only the operator may do it.
 * @throws NotFound; Conflict if there is none
 */
export async function unlink(system: System, email: string): Promise<{ identities: number; logins: string[] }> {
  const { id } = await withEmail(system, email)
  const removed = await withGroups(
    system,
    id,
    [],
    async (trx) => {
      const number = await identities.removeFrom(trx, id)
      if (number === 0) throw new Conflict(`${email} is linked with no identity; nothing was changed.`)
      await signIns.voidCodes(trx, id, undefined)
      return { identities: number, logins: await tokens.removeOwned(trx, id, 'logins') }
    },
    [`account ${id}`],
  )
  record(system, 'identity_unlinked', { account: id })
  for (const token of removed.logins) record(system, 'token_deleted', { account: id, token })
  return removed
}
