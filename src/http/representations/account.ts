import type { Config } from '../../config.ts'
import { emailProblems, type AccountWithCounts } from '../../service/accounts/accounts.ts'
import { nameProblems } from '../../service/domains/availability.ts'
import type { CaptchaAnswer } from '../../service/accounts/captchas.ts'
import { passwordProblems } from '../../service/accounts/passwords.ts'
import type { SignUp } from '../../service/accounts/sign-up.ts'
import { captchaAnswer } from './captcha.ts'
import { boolean, nonBlankText, readForm, ruledText } from './fields.ts'

const email = ruledText({ trim: true }, emailProblems)
const password = nonBlankText({ trim: true })
const newPassword = ruledText({ trim: true }, passwordProblems)

const domain = ruledText({ trim: false }, nameProblems)

/** What is read of a captcha: nothing, unless captchas are on. Where there is a schema, the member may be missing, too. */
function captcha(config: Config): { captcha: ReturnType<typeof captchaAnswer> } {
  return (config.captcha ? { captcha: captchaAnswer() } : {}) as { captcha: ReturnType<typeof captchaAnswer> }
}

/** What a body says about who wants an account (contract §11.2). */
export function readSignUp(body: unknown, config: Config): SignUp {
  const shape = {
    ...{ email, password: newPassword.nullable(), ...captcha(config), domain },
    outreach_preference: boolean(),
  }
  const { outreach_preference: outreachPreference, ...form } = readForm(body, shape, ['email', 'password'])
  return { ...form, ...(outreachPreference !== undefined && { outreachPreference }) }
}

/** What a person says to be known by. */
export function readCredentials(body: unknown) {
  return readForm(body, { email, password }, ['email', 'password'])
}

export function readEmailChange(body: unknown) {
  const { new_email: newEmail, ...credentials } = readForm(body, { email, password, new_email: email }, [
    'email',
    'password',
    'new_email',
  ])
  return { credentials, newEmail }
}

export function readPasswordReset(body: unknown, config: Config): { email: string; captcha?: CaptchaAnswer } {
  return readForm(body, { email, ...captcha(config) }, ['email'])
}

/** The captcha in the body of an activation. */
export function readActivation(body: unknown, config: Config): CaptchaAnswer | undefined {
  return readForm(body, captcha(config), []).captcha
}

export function readNewPassword(body: unknown) {
  return { newPassword: readForm(body, { new_password: newPassword }, ['new_password']).new_password }
}

export function readAccountChange(body: unknown) {
  const { outreach_preference: outreachPreference } = readForm(body, { outreach_preference: boolean() }, [])
  return outreachPreference === undefined ? {} : { outreachPreference }
}

/** An account as it shows itself (contract §11.2). */
export function presentAccount(account: AccountWithCounts) {
  const { created, domainsUnderManagement, email, id, limitDomains, outreachPreference } = account
  return {
    created,
    domains_under_management: domainsUnderManagement,
    email,
    id,
    limit_domains: limitDomains,
    outreach_preference: outreachPreference,
  }
}
