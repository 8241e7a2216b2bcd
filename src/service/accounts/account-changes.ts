import { Conflict, Invalid } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import { type Db, transaction } from '../../store/database.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import { record } from '../events.ts'
import { MAILED_TOKENS, tokenList } from '../mails/mail-texts.ts'
import { notify } from '../mails/notices.ts'
import { tellingOfCopies } from '../passkeys/passkey-proof.ts'
import { networkOf } from '../throttling/callers.ts'
import { canonicalEmail, end } from './accounts.ts'
import { type CaptchaAnswer, refuseUnsolvedCaptcha } from './captchas.ts'
import * as confirmations from './confirmations.ts'
import { inConstantTime } from './constant-time.ts'
import { type Credentials, refusePasswords, withPassword } from './credentials.ts'
import { hashPassword } from './passwords.ts'
import { type FactorProof, requireSecondFactor } from './second-factor.ts'

// Changes that need a confirmation: one request asks for the change, the link in the resulting mail carries it out.

/** The proof for a change of the account: the password and, with MFA enabled, a code or passkey (contract §11.2). */
export type Proof = Credentials & FactorProof

/** Runs `work` as `withPassword` does, if the second factor is right, too. @throws Denied, Throttled, Invalid */
async function withProof(
  system: System,
  proof: Proof,
  work: (trx: Db, account: Account) => Promise<void>,
): Promise<void> {
  await tellingOfCopies(system, () =>
    withPassword(system, proof, async (trx, account) => {
      await requireSecondFactor(system, trx, account, proof)
      await work(trx, account)
    }),
  )
}

/** Mails a confirmation link to the new address. @throws Denied, Throttled, Invalid */
export async function requestEmailChange(system: System, proof: Proof, email: string, base: string): Promise<void> {
  const newEmail = canonicalEmail(email)
  await withProof(system, proof, async (trx, account) => {
    if (newEmail === account.email) throw Invalid.field('new_email', 'Email address unchanged.')
    await confirmations.request(system, trx, account, 'change-email', { newEmail }, { base, to: newEmail })
  })
}

/** Changes the address, and notifies the old one. @returns the new address @throws Invalid, Denied, Conflict */
export async function changeEmail(system: System, code: string): Promise<string> {
  return confirmations.redeem(system, 'change-email', code, async (trx, { id, email }, { newEmail }) => {
    await accounts.changeCredentials(trx, id, { email: newEmail }, system.now())
    await notify(system, trx, { id, email }, 'address', newEmail)
    record(system, trx, 'address_changed', { account: id, by: 'link' })
    return newEmail
  })
}

/** Mails a link if an active account has this address; the caller cannot see the difference. @throws Invalid */
export async function requestPasswordReset(
  system: System,
  { email, captcha }: { email: string; captcha?: CaptchaAnswer },
  base: string,
): Promise<void> {
  refusePasswords(system)
  await refuseUnsolvedCaptcha(system, captcha)
  await inConstantTime(() =>
    transaction(system.db, async (trx) => {
      const account = await accounts.withEmail(trx, email)
      if (account?.state !== 'active') return
      const note = tokenList(await tokens.apiTokens(trx, account.id, MAILED_TOKENS + 1, system.now()))
      await confirmations.request(system, trx, account, 'reset-password', {}, { base, note })
    }),
  )
}

/** The new password, and whether to also delete the account's API tokens: true by default. */
export interface PasswordReset {
  newPassword: string
  revokeTokens?: boolean
}

/**
 * Sets a new password and deletes all login tokens, and the API tokens unless they shall stay. From the client's address, the new
 * password is then accepted whatever strangers do (contract §14).
 * @param input called once the code has proved valid
 * @throws Invalid, Denied, Conflict, Throttled
 */
export async function resetPassword(
  system: System,
  { code, address }: { code: string; address: string },
  input: () => PasswordReset,
): Promise<void> {
  refusePasswords(system)
  const checked = await confirmations.check(system, 'reset-password', code)
  const { newPassword, ...asked } = input()
  const passwordHash = await hashPassword(newPassword, checked.account.id)
  await confirmations.redeem(
    system,
    'reset-password',
    code,
    async (trx, { id, email }, { revokeTokens = asked.revokeTokens ?? true }) => {
      await accounts.changeCredentials(trx, id, { passwordHash }, system.now())
      await accounts.addKnownNetwork(trx, id, networkOf(address), { isProved: true })
      await notify(system, trx, { id, email }, 'password')
      record(system, trx, 'password_changed', { account: id, by: 'link' })
      for (const token of await tokens.removeOwned(trx, id, revokeTokens ? 'all' : 'logins'))
        record(system, trx, 'token_deleted', { account: id, token, by: 'link' })
    },
  )
}

/** Mails a link that deletes the account. @throws Denied, Throttled, Invalid; Conflict if it still has domains */
export async function requestDeletion(system: System, proof: Proof, base: string): Promise<void> {
  await withProof(system, proof, async (trx, account) => {
    refuseWithDomains(account)
    await confirmations.request(system, trx, account, 'delete-account', {}, { base })
  })
}

/** Deletes an account and all its data. @throws Invalid, Denied, Conflict */
export async function deleteAccount(system: System, code: string): Promise<void> {
  await confirmations.redeem(system, 'delete-account', code, async (trx, account) => {
    refuseWithDomains(account)
    await end(system, trx, account)
    record(system, trx, 'account_deleted', { account: account.id, by: 'link' })
  })
}

/** @param account locked, so that no other request adds a domain @throws Conflict if it still has domains */
function refuseWithDomains({ domains }: Account): void {
  if (domains > 0) throw new Conflict('To delete your user account, first delete all of your domains.')
}
