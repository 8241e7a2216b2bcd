import { Conflict, Denied, orNotFound } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import type { Linked } from '../../store/accounts/identities.ts'
import * as identities from '../../store/accounts/identities.ts'
import * as passkeys from '../../store/accounts/passkeys.ts'
import * as signIns from '../../store/accounts/sign-ins.ts'
import { confirmPrimary, type Db } from '../../store/database.ts'
import * as sessions from '../../store/tokens/sign-on-sessions.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import { withEmail } from '../accounts/accounts.ts'
import { isNewLogin } from '../accounts/second-factor.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { notify } from '../mails/notices.ts'
import { withGroups } from './group-memberships.ts'

/** Returns the identity that is linked with the actor's account last; undefined if there is none. */
export async function linkOf({ system, actor }: Visit): Promise<Linked | undefined> {
  return (await identities.ofAccount(system.db, actor.accountId)).at(-1)
}

/**
 * Ends the links of the actor's account with identities, if there are any, with the logins of these, and the memberships
 * of their groups. A mail tells the owner.
 * @throws Denied if the login is not new; Conflict if nobody could sign in to the account any more
 */
export async function endLink(visit: Visit): Promise<void> {
  const { system, actor } = visit
  const { accountId: id, tokenId: by } = actor
  // Whoever is linked with nobody is in groups of nobody.
  const ended =
    (await linkOf(visit)) !== undefined &&
    (await withGroups(
      system,
      id,
      [],
      async (trx, locked) => {
        const account = orNotFound(locked)
        if (!(await isNewLogin(system, trx, actor))) {
          throw new Denied('Sign in again: the link can be ended only within ten minutes of a login.')
        }
        await refuseOnlyWay(system, trx, account)
        const logins: string[] = []
        for (const { issuer, sub } of await identities.ofAccount(trx, id))
          logins.push(...(await sessions.remove(trx, id, { issuer, sub, sid: null }, system.now())))
        if ((await removeFrom(trx, id)) === 0) return false
        await notify(system, trx, account, 'identity-unlinked', system.config.oidcName)
        record(system, trx, 'identity_unlinked', { account: id, by })
        for (const token of logins) record(system, trx, 'token_deleted', { account: id, token, by })
        return true
      },
      [`account ${id}`],
      visit,
    ))
  if (!ended) await confirmPrimary(system.db)
}

/** @throws Conflict if single sign-on is the only way to sign in to an account */
async function refuseOnlyWay({ config }: System, trx: Db, { id, passwordHash }: Account): Promise<void> {
  if ((config.passwords && passwordHash !== null) || (await passkeys.count(trx, id)) > 0) return
  const password = config.passwords ? ', or set a password' : ''
  throw new Conflict(`Nobody could sign in to this account any more. Add a passkey${password} first.`)
}

/** Deletes the identities of an account, and voids their codes. @returns their number */
async function removeFrom(trx: Db, id: string): Promise<number> {
  await signIns.voidCodes(trx, id, undefined)
  return identities.removeFrom(trx, id)
}

/**
 * Ends the links of an account with identities, so that another one can take their place. Its logins end, too, as they
 * may be of these, and the memberships of their groups. Only the operator may do it.
 * @throws NotFound; Conflict if there is none
 */
export async function unlink(system: System, email: string): Promise<{ identities: number; logins: string[] }> {
  const { id } = await withEmail(system, email)
  return withGroups(
    system,
    id,
    [],
    async (trx) => {
      const number = await removeFrom(trx, id)
      if (number === 0) throw new Conflict(`${email} is linked with no identity; nothing was changed.`)
      const logins = await tokens.removeOwned(trx, id, 'logins')
      record(system, trx, 'identity_unlinked', { account: id })
      for (const token of logins) record(system, trx, 'token_deleted', { account: id, token })
      return { identities: number, logins }
    },
    [`account ${id}`],
  )
}
