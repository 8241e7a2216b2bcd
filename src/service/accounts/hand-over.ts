import { Conflict, Invalid, orNotFound } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import * as identities from '../../store/accounts/identities.ts'
import * as members from '../../store/accounts/members.ts'
import * as passkeys from '../../store/accounts/passkeys.ts'
import * as signIns from '../../store/accounts/sign-ins.ts'
import * as factors from '../../store/accounts/totp-factors.ts'
import * as webhooks from '../../store/accounts/webhooks.ts'
import { transaction } from '../../store/database.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import { record } from '../events.ts'
import { notify } from '../mails/notices.ts'
import { reserve } from '../tokens/rights.ts'
import { canonicalEmail, emailProblems, withEmail } from './accounts.ts'

/**
 * Gives an account to another person: its address becomes that person's, and all by which the former one signs in ends:
 * password, second factors, passkeys, identities, logins and links; also its own memberships. Domains, API tokens and
 * members stay; webhooks are disabled. A mail tells both. Only the operator may do it.
 * @throws NotFound, Invalid; Conflict if the other address has an account
 */
export async function handOver(system: System, email: string, to: string): Promise<Account> {
  if (emailProblems(to).length > 0) throw Invalid.object(`"${to}" is not an e-mail address.`)
  const { id } = await withEmail(system, email)
  return transaction(system.db, async (trx) => {
    await reserve(trx, `account ${id}`)
    const before = orNotFound(await accounts.lock(trx, id))
    if ((await accounts.withEmail(trx, to)) !== undefined) {
      throw new Conflict(`${to} has an account already: make it a member instead (zoneplane member add).`)
    }
    await factors.removeAll(trx, id)
    await passkeys.removeAll(trx, id)
    await identities.removeFrom(trx, id)
    await signIns.voidCodes(trx, id, undefined)
    await members.leaveAll(trx, id)
    await webhooks.disableAll(trx, id, 'handed_over', system.now())
    const logins = await tokens.removeOwned(trx, id, 'logins')
    await notify(system, trx, before, 'handed-over', to)
    const account = await accounts.replaceOwner(trx, id, canonicalEmail(to), system.now())
    await notify(system, trx, account, 'received', email)
    record(system, trx, 'account_handed_over', { account: id })
    for (const token of logins) record(system, trx, 'token_deleted', { account: id, token })
    return account
  })
}
