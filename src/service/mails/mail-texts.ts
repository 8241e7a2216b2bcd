import type { Action } from '../../store/accounts/confirmations.ts'
import type { Token } from '../../store/tokens/tokens.ts'
import { compose, type MailText } from './mails.ts'

/** The number of API tokens that the mail for a password reset lists. */
export const MAILED_TOKENS = 20

const IGNORE = 'If you did not ask for this, please ignore this mail. Nothing will change.'
const CHANGE_PASSWORD = 'If this was not you, please change your password: somebody else knows it.'

const CONFIRMATIONS: Record<Action, { subject: string; before: string; after: string }> = {
  'activate-account': {
    subject: 'Confirm your new account',
    before: 'Welcome! To activate your new account, please open this link and press the button:',
    after: 'If you did not sign up, please ignore this mail. The account will then be deleted.',
  },
  'change-email': {
    subject: 'Confirm your new e-mail address',
    before: 'To use this e-mail address for your account, please open this link and press the button:',
    after: IGNORE,
  },
  'reset-password': {
    subject: 'Set a new password',
    before: 'To set a new password for your account, please open this link:',
    after: IGNORE,
  },
  'delete-account': {
    subject: 'Confirm the deletion of your account',
    before: 'To permanently delete your account and all its data, please open this link and press the button:',
    after: CHANGE_PASSWORD,
  },
  'create-totp': {
    subject: 'Confirm your new authentication factor',
    before: 'To see the secret of your new authentication factor, please open this link and press the button:',
    after: CHANGE_PASSWORD,
  },
  'create-passkey': {
    subject: 'Confirm your new passkey',
    before:
      'Somebody who knows your password has made a passkey. If it was you, please open this link and press the button:',
    after: `Whoever has the passkey can then sign in to your account with it. ${CHANGE_PASSWORD}`,
  },
  'accept-invitation': {
    subject: 'You are invited to an account',
    before: 'To accept the invitation below, please open this link and press the button:',
    after: 'If you do not know who invites you, please ignore this mail. Nothing will change.',
  },
}

/** Writes the mail that asks a user to confirm an action. @param validity seconds @param note a further paragraph */
export function mailText(action: Action, link: string, validity: number, note?: string): MailText {
  const { subject, before, after } = CONFIRMATIONS[action]
  const expiry = `The link works once and expires after ${formatDuration(validity)}.`
  return compose(subject, before, link, expiry, ...(note === undefined ? [] : [note]), after)
}

/**
 * Writes the paragraph of the mail for a password reset about the account's API tokens; undefined if it has none.
 * @param tokens newest first; of more than MAILED_TOKENS, only these are listed
 */
export function tokenList(tokens: Token[]): string | undefined {
  if (tokens.length === 0) return undefined
  const lines = tokens.slice(0, MAILED_TOKENS).map(({ name, created, lastUsed, permManageTokens }) => {
    const use = lastUsed === null ? 'never used' : `last used ${lastUsed.slice(0, 10)}`
    // A name may have line breaks, as another person may have chosen it.
    return `- ${JSON.stringify(name)}, made ${created.slice(0, 10)}, ${use}${permManageTokens ? ', may manage tokens' : ''}`
  })
  if (tokens.length > MAILED_TOKENS) lines.push('- and others')
  const advice =
    'The page can delete them. Let it do so if you do not know one of them, or if somebody else may know your password.'
  return ['Your account has these API tokens, which do not depend on the password:', ...lines, advice].join('\n')
}

/** Formats the duration as a multiple of the largest unit that divides it. */
function formatDuration(seconds: number): string {
  const units = { day: 86_400, hour: 3600, minute: 60, second: 1 }
  const [unit, size] = Object.entries(units).find(([, size]) => seconds % size === 0)!
  const count = seconds / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
