import { type AccountWithCounts, emailProblems } from '../../service/accounts/accounts.ts'
import { passwordProblems } from '../../service/accounts/passwords.ts'
import { nameProblems } from '../../service/names/availability.ts'
import type { Config } from '../../settings/config.ts'
import { boolean, nonBlankText, ruledText } from '../fields/fields.ts'
import { DOMAIN_NAME, EMAIL_INPUT, NEW_PASSWORD } from '../fields/patterns.ts'
import { COUNT, EMAIL, nullable, TIME, UUID } from '../fields/schema.ts'
import { form, representation } from '../fields/table.ts'
import { captchaAnswer } from './captcha-representation.ts'
import { assertion } from './passkey-representation.ts'
import { code } from './totp-representation.ts'

/** An account as its owner sees it (contract §11.2). */
export const ACCOUNT = representation<AccountWithCounts>()(['Account'], {
  created: { read: TIME, text: 'The time of its creation.' },
  domains_under_management: {
    read: COUNT,
    text: "The number of its domains, and of others' domains that its override tokens are for.",
    example: 3,
  },
  email: { read: EMAIL, text: 'The address for logging in.' },
  id: { read: UUID, text: 'Identifies the account.' },
  limit_domains: { read: nullable(COUNT), text: 'The largest number of its domains; null: no limit.', example: 15 },
  outreach_preference: {
    write: boolean(),
    text: 'Whether the operator may send the owner more than the necessary mails.',
    example: true,
  },
  require_mfa: {
    write: boolean(),
    isOptional: true,
    text: 'Whether members need a second factor to act for it. Absent: no.',
    example: true,
  },
  require_message: {
    write: boolean(),
    isOptional: true,
    text: 'Whether writes by logins need the header `Zoneplane-Message`. Absent: no.',
    example: true,
  },
})

const email = ruledText({ trim: true }, emailProblems).meta({ accepted: EMAIL_INPUT })
const password = nonBlankText({ trim: true })
const newPassword = ruledText({ trim: true }, passwordProblems).meta({ accepted: NEW_PASSWORD })
const domain = ruledText({ trim: false }, nameProblems).meta({ accepted: DOMAIN_NAME })

const EMAIL_ROW = { write: email, text: 'The address of the account.', example: 'alice@example.org' }
const PASSWORD_ROWS = {
  email: EMAIL_ROW,
  password: { write: password, text: 'The password of the account.', example: 'correct horse battery' },
}
const PASSWORD_RULES = 'From 8 to 128 characters.'
const FACTOR_ROWS = {
  code: {
    write: code,
    text: 'A code of a second factor. Required if the account has multi-factor authentication enabled, unless `passkey` is given.',
    example: '123456',
  },
  passkey: {
    write: assertion,
    text: 'The answer of a passkey, in place of `code`. Required if the account has passkeys alone.',
  },
}

type CaptchaRow = { captcha: { write: typeof captchaAnswer; text: string } }

/** Returns the field of the optional member `captcha`, which is read only if captchas are on. */
function captcha({ captcha: isOn }: Config, text: string): CaptchaRow {
  return (isOn ? { captcha: { write: captchaAnswer, text } } : {}) as CaptchaRow
}

const AFTER_FAILURES = 'Needed after too many failed logins of the account.'
const ALWAYS = 'Needed.'

/** Returns the forms of contract §§11.2 and 11.3. */
export function accountForms(config: Config) {
  return {
    signUp: form('SignUp', ['email', 'password'], {
      email: EMAIL_ROW,
      password: {
        write: newPassword.nullable(),
        text: `${PASSWORD_RULES} Null: the owner sets it later, by a link in a mail.`,
        example: 'correct horse battery',
      },
      ...captcha(config, ALWAYS),
      domain: { write: domain, text: 'A domain to create with the account.', example: 'alice.dyn.example.net' },
      outreach_preference: {
        write: boolean(),
        text: 'Whether the operator may send more than the necessary mails.',
        example: true,
      },
    }),
    credentials: form('Credentials', ['email', 'password'], { ...PASSWORD_ROWS, ...captcha(config, AFTER_FAILURES) }),
    emailChange: form('EmailChange', ['email', 'password', 'new_email'], {
      ...PASSWORD_ROWS,
      new_email: { write: email, text: 'The new address.', example: 'alice@example.com' },
      ...FACTOR_ROWS,
      ...captcha(config, AFTER_FAILURES),
    }),
    deletion: form('AccountDeletion', ['email', 'password'], {
      ...PASSWORD_ROWS,
      ...FACTOR_ROWS,
      ...captcha(config, AFTER_FAILURES),
    }),
    passwordReset: form('PasswordReset', ['email'], { email: EMAIL_ROW, ...captcha(config, ALWAYS) }),
    invitation: form('InvitationAcceptance', [], {
      new_password: {
        write: newPassword,
        text: `Of the account that is made, if the invited address has none. ${PASSWORD_RULES}`,
        example: 'battery staple correct',
      },
    }),
    newPassword: form('NewPassword', ['new_password'], {
      new_password: { write: newPassword, text: PASSWORD_RULES, example: 'battery staple correct' },
      revoke_tokens: {
        write: boolean(),
        text: "Whether to also delete the account's API tokens; true by default.",
        example: false,
      },
    }),
  }
}
