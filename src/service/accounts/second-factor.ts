import { Conflict, Denied, Invalid, orNotFound } from '../../errors.ts'
import { NEW_LOGIN } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import * as passkeys from '../../store/accounts/passkeys.ts'
import { count } from '../../store/accounts/second-factors.ts'
import type { Verifiable } from '../../store/accounts/totp-factors.ts'
import * as factors from '../../store/accounts/totp-factors.ts'
import { type Db, transaction } from '../../store/database.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../actor.ts'
import { record } from '../events.ts'
import { notify } from '../mails/notices.ts'
import { provePasskey } from '../passkeys/passkey-proof.ts'
import type { Assertion, Site } from '../passkeys/webauthn.ts'
import { decrypt } from '../secrets/encryption.ts'
import { recordFailure } from '../throttling/failures.ts'
import { limitFailures } from '../throttling/guessing.ts'
import { reserve } from '../tokens/rights.ts'
import { withEmail } from './accounts.ts'
import { matchingStep } from './totp-codes.ts'

/**
 * Finds the factor and time step of a code, for `factors.use` to accept.
 * @param candidates factors of this account
 * @throws Invalid if the code is wrong; Throttled after too many wrong ones (contract §14, `totp_failure`)
 */
export async function matchCode(
  system: System,
  accountId: string,
  candidates: Verifiable[],
  code: string,
): Promise<{ id: string; step: number }> {
  const match = await limitFailures(system, 'totp_failure', accountId, async () => {
    const now = system.now()
    const matches = candidates.flatMap(({ id, secret, lastStep }) => {
      const step = matchingStep(decrypt(system, { table: 'totp_factors', owner: id, secret }), code, now, lastStep)
      return step === undefined ? [] : { id, step }
    })
    return matches[0]
  })
  if (match === undefined) {
    await recordFailure(system, 'code_failed', { account: accountId, by: 'request' })
    throw wrongCode()
  }
  return match
}

/** What proves a second factor beside the password. */
export interface FactorProof {
  code?: string
  passkey?: Assertion
  /** Returns where passkeys are valid. @throws Denied if nowhere */
  site: () => Site
}

/**
 * Uses up a code of one of the account's factors, or a signature of one of its passkeys, if MFA is enabled (contract
 * §11.2).
 * @param account locked
 * @throws Invalid if it is missing or wrong; Throttled after too many wrong codes; run it in `tellingOfCopies`
 */
export async function requireSecondFactor(
  system: System,
  trx: Db,
  account: Account,
  { code, passkey, site }: FactorProof,
): Promise<void> {
  const { id: accountId } = account
  if ((await count(trx, accountId)) === 0) return
  if (passkey !== undefined) {
    // Also a challenge that the session of the account has got.
    const isFor = (purpose: { accountId: string | null }) => [null, accountId].includes(purpose.accountId)
    await provePasskey(system, trx, account, passkey, { site: site(), isFor, failure: 'code_failed', by: 'request' })
    return
  }
  const used = await factors.used(trx, accountId)
  if (used.length === 0) throw Invalid.field('passkey', 'This field is required.')
  if (code === undefined) throw Invalid.field('code', 'This field is required.')
  const { id, step } = await matchCode(system, accountId, used, code)
  if ((await factors.use(trx, id, step, system.now())) === undefined) throw wrongCode()
}

/**
 * Refuses that the account has lost its last second factor, unless the login is new: a stolen session must not suffice.
 * @throws Denied
 */
export async function refuseUnlessNewLogin(system: System, trx: Db, actor: Actor): Promise<void> {
  if ((await count(trx, actor.accountId)) > 0 || (await isNewLogin(system, trx, actor))) return
  throw new Denied('Sign in again: the last second factor can be deleted only within ten minutes of a login.')
}

/** Reports whether the person with the presented token has signed in within NEW_LOGIN. */
export async function isNewLogin(system: System, trx: Db, { tokenId }: Actor): Promise<boolean> {
  const signedIn = await tokens.signedIn(trx, tokenId)
  return signedIn !== undefined && Date.parse(system.now()) - Date.parse(signedIn) <= 1000 * NEW_LOGIN
}

/**
 * Deletes all factors of an account, also its passkeys, for an owner who has lost them (contract §12). Its logins end: one
 * that waits for its code must not become one that needs none. Only the operator may do it.
 * @throws NotFound; Conflict if there is none
 */
export async function removeAll(system: System, email: string): Promise<{ factors: string[]; logins: string[] }> {
  const { id } = await withEmail(system, email)
  return transaction(system.db, async (trx) => {
    await reserve(trx, `account ${id}`)
    const account = orNotFound(await accounts.lock(trx, id))
    const removed = [...(await factors.removeAll(trx, id)), ...(await passkeys.removeAll(trx, id))]
    if (removed.length === 0) throw new Conflict(`${email} has no second factor; nothing was changed.`)
    await accounts.changeCredentials(trx, id, {}, system.now())
    await notify(system, trx, account, 'factors-removed')
    const logins = await tokens.removeOwned(trx, id, 'logins')
    for (const factor of removed) record(system, trx, 'factor_deleted', { account: id, factor })
    for (const token of logins) record(system, trx, 'token_deleted', { account: id, token })
    return { factors: removed, logins }
  })
}

/** Returns the error for a code that is wrong or was used before. */
export function wrongCode(): Invalid {
  return Invalid.field('code', 'Invalid code.')
}
