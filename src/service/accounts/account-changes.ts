import { Conflict, Invalid } from '../../errors.ts'
import * as accounts from '../../store/accounts.ts'
import type { Account } from '../../store/accounts.ts'
import { transaction } from '../../store/database.ts'
import * as mails from '../../store/mails.ts'
import * as tokens from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import { canonicalEmail } from './accounts.ts'
import { refuseUnsolvedCaptcha, type CaptchaAnswer } from './captchas.ts'
import * as confirmations from './confirmations.ts'
import { withPassword, type Credentials } from './credentials.ts'
import { inConstantTime } from './constant-time.ts'
import { addressChanged } from './mail-texts.ts'
import { hashPassword } from './passwords.ts'

// Changes that need a confirmation: one request asks for the change, the link in the resulting mail carries it out.

/** Mails a confirmation link to the new address. @throws Denied, Throttled, Invalid */
export async function requestEmailChange(
  system: System,
  credentials: Credentials,
  email: string,
  base: string,
): Promise<void> {
  const newEmail = canonicalEmail(email)
  await withPassword(system, credentials, async (trx, account) => {
    if (newEmail === account.email) throw Invalid.field('new_email', 'Email address unchanged.')
    await confirmations.request(system, trx, account, 'change-email', { newEmail }, { base, to: newEmail })
  })
}

/** Sends a notice to the old address. @returns the new address @throws Invalid, Denied, Conflict */
export async function changeEmail(system: System, code: string): Promise<string> {
  return confirmations.redeem(system, 'change-email', code, async (trx, { id, email }, { newEmail }) => {
    const now = system.now()
    await accounts.changeCredentials(trx, id, { email: newEmail }, now)
    await mails.queue(trx, { to: email, ...addressChanged(newEmail), now })
    return newEmail
  })
}

/** Mails a link if an active account has this address; the caller cannot see whether one has. @throws Invalid */
export async function requestPasswordReset(
  system: System,
  { email, captcha }: { email: string; captcha?: CaptchaAnswer },
  base: string,
): Promise<void> {
  await refuseUnsolvedCaptcha(system, captcha)
  await inConstantTime(() =>
    transaction(system.db, async (trx) => {
      const account = await accounts.withEmail(trx, email)
      if (account?.state !== 'active') return
      await confirmations.request(system, trx, account, 'reset-password', {}, { base })
    }),
  )
}

/**
 * Sets a new password and deletes all login tokens.
 * @param input called once the code has proved valid
 * @throws Invalid, Denied, Conflict, Throttled
 */
export async function resetPassword(system: System, code: string, input: () => { newPassword: string }): Promise<void> {
  await confirmations.check(system, 'reset-password', code)
  const passwordHash = await hashPassword(input().newPassword)
  await confirmations.redeem(system, 'reset-password', code, async (trx, { id }) => {
    await accounts.changeCredentials(trx, id, { passwordHash }, system.now())
    await tokens.removeLogins(trx, id)
  })
}

/** Mails a link that deletes the account. @throws Denied, Throttled; Conflict if the account still has domains */
export async function requestDeletion(system: System, credentials: Credentials, base: string): Promise<void> {
  await withPassword(system, credentials, async (trx, account) => {
    refuseWithDomains(account)
    await confirmations.request(system, trx, account, 'delete-account', {}, { base })
  })
}

/** Deletes an account and all its data. @throws Invalid, Denied, Conflict */
export async function deleteAccount(system: System, code: string): Promise<void> {
  await confirmations.redeem(system, 'delete-account', code, async (trx, account) => {
    refuseWithDomains(account)
    await accounts.remove(trx, account.id)
  })
}

/** @param account locked, so that no other request adds a domain @throws Conflict if it still has domains */
function refuseWithDomains({ domains }: Account): void {
  if (domains > 0) throw new Conflict('To delete your user account, first delete all of your domains.')
}
