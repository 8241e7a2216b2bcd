import { emailProblems, type AccountWithCounts } from '../../service/accounts.ts'
import { nameProblems } from '../../service/availability.ts'
import { passwordProblems } from '../../service/passwords.ts'
import { boolean, nonBlankText, readForm, ruledText } from './fields.ts'

const email = ruledText({ trim: true }, emailProblems)
const password = nonBlankText({ trim: true })
const newPassword = ruledText({ trim: true }, passwordProblems)

/** What a body says about who wants an account (contract §11.2). */
export function readSignUp(body: unknown) {
  const domain = ruledText({ trim: false }, nameProblems)
  const shape = { email, password: newPassword.nullable(), domain, outreach_preference: boolean() }
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

export function readPasswordReset(body: unknown) {
  return readForm(body, { email }, ['email'])
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
