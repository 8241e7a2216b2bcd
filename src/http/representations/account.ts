import type { Config } from '../../config.ts'
import type { PasswordReset } from '../../service/accounts/account-changes.ts'
import { emailProblems, type AccountWithCounts } from '../../service/accounts/accounts.ts'
import { nameProblems } from '../../service/domains/availability.ts'
import type { CaptchaAnswer } from '../../service/accounts/captchas.ts'
import { passwordProblems } from '../../service/accounts/passwords.ts'
import type { SignUp } from '../../service/accounts/sign-up.ts'
import { captchaAnswer } from './captcha.ts'
import { code } from './totp.ts'
import { boolean, nonBlankText, readForm, ruledText } from './fields.ts'

const email = ruledText({ trim: true }, emailProblems)
const password = nonBlankText({ trim: true })
const newPassword = ruledText({ trim: true }, passwordProblems)
const domain = ruledText({ trim: false }, nameProblems)

/** The optional member `captcha`, which is read only if captchas are on. */
function captcha(config: Config): { captcha: ReturnType<typeof captchaAnswer> } {
  return (config.captcha ? { captcha: captchaAnswer() } : {}) as { captcha: ReturnType<typeof captchaAnswer> }
}

/** Reads a registration (contract §11.2). */
export function readSignUp(body: unknown, config: Config): SignUp {
  const required = { email, password: newPassword.nullable() }
  const optional = { ...captcha(config), domain, outreach_preference: boolean() }
  const { outreach_preference: outreachPreference, ...form } = readForm(body, required, optional)
  return { ...form, ...(outreachPreference !== undefined && { outreachPreference }) }
}

/** Reads the credentials of an account. */
export function readCredentials(body: unknown, config: Config) {
  return readForm(body, { email, password }, captcha(config))
}

/** Reads the request to change the address (contract §11.2). */
export function readEmailChange(body: unknown, config: Config) {
  const required = { email, password, new_email: email }
  const { new_email: newEmail, ...proof } = readForm(body, required, { code, ...captcha(config) })
  return { proof, newEmail }
}

/** Reads the request to delete the account (contract §11.2). */
export function readDeletion(body: unknown, config: Config) {
  return readForm(body, { email, password }, { code, ...captcha(config) })
}

export function readPasswordReset(body: unknown, config: Config): { email: string; captcha?: CaptchaAnswer } {
  return readForm(body, { email }, captcha(config))
}

/** Reads the captcha of an activation (contract §11.3). */
export function readActivation(body: unknown, config: Config): CaptchaAnswer | undefined {
  return readForm(body, {}, captcha(config)).captcha
}

/** Reads the input of a password reset (contract §11.3). */
export function readNewPassword(body: unknown): PasswordReset {
  const form = readForm(body, { new_password: newPassword }, { revoke_tokens: boolean() })
  return { newPassword: form.new_password, revokeTokens: form.revoke_tokens ?? false }
}

export function readAccountChange(body: unknown) {
  const { outreach_preference: outreachPreference } = readForm(body, {}, { outreach_preference: boolean() })
  return outreachPreference === undefined ? {} : { outreachPreference }
}

/** An account as its owner sees it (contract §11.2). */
export function presentAccount(account: AccountWithCounts) {
  return {
    created: account.created,
    domains_under_management: account.domainsUnderManagement,
    email: account.email,
    id: account.id,
    limit_domains: account.limitDomains,
    outreach_preference: account.outreachPreference,
  }
}
