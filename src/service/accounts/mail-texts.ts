import type { Action } from '../../store/confirmations.ts'

/** Subject and plain text of a mail. */
export interface MailText {
  subject: string
  text: string
}

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
}

/** The mail that asks a user to confirm an action. @param validity seconds */
export function mailText(action: Action, link: string, validity: number): MailText {
  const { subject, before, after } = CONFIRMATIONS[action]
  return compose(subject, before, link, `The link works once and expires after ${formatDuration(validity)}.`, after)
}

/** The notice to the previous address of an account. */
export function addressChanged(newEmail: string): MailText {
  return compose(
    'Your e-mail address was changed',
    `Your account now uses the e-mail address ${newEmail}. We will not send any more mails to this address.`,
    'If you did not ask for this change, please contact the operator of this service.',
  )
}

function compose(subject: string, ...paragraphs: string[]): MailText {
  return { subject, text: `${['Hello,', ...paragraphs].join('\n\n')}\n` }
}

/** The duration as a multiple of the largest unit that divides it. */
function formatDuration(seconds: number): string {
  const units = { day: 86_400, hour: 3600, minute: 60, second: 1 }
  const [unit, size] = Object.entries(units).find(([, size]) => seconds % size === 0)!
  const count = seconds / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
