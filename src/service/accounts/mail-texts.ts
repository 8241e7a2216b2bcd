import type { Action } from '../../store/confirmations.ts'

/** A mail's words; plain text with one link. */
export interface MailText {
  subject: string
  text: string
}

const CONFIRM: Record<Action, { subject: string; before: string; after: string }> = {
  'activate-account': {
    subject: 'Confirm your new account',
    before: 'an account was made with this e-mail address. To activate it, open this link and press the button:',
    after: 'If you do not want an account, ignore this mail, and the account will be forgotten.',
  },
  'change-email': {
    subject: 'Confirm your new e-mail address',
    before:
      'the owner of an account wants to use this e-mail address for it from now on. To allow that, open this link and ' +
      'press the button:',
    after: 'If that is not your account, ignore this mail, and nothing will change.',
  },
  'reset-password': {
    subject: 'Set a new password',
    before: 'to set a new password for your account, open this link:',
    after: 'If you did not ask for it, ignore this mail, and your password stays as it is.',
  },
  'delete-account': {
    subject: 'Confirm that your account shall be deleted',
    before: 'to delete your account and all its data for good, open this link and press the button:',
    after: 'If you did not ask for it, change your password: whoever did knows it.',
  },
  'create-totp': {
    subject: 'Confirm your new authentication factor',
    before: 'to get the secret of your new authentication factor, open this link and press the button:',
    after: 'If you did not ask for it, change your password: whoever did knows it.',
  },
}

/** The mail that asks for an action to be confirmed. @param validity seconds */
export function mailText(action: Action, link: string, validity: number): MailText {
  const { subject, before, after } = CONFIRM[action]
  return {
    subject,
    text: paragraphs(`Hello,\n\n${before}`, link, `It works once, within ${inWords(validity)}.`, after),
  }
}

/** The notice to the address that an account no longer has. */
export function addressChanged(newEmail: string): MailText {
  const text = paragraphs(
    `Hello,\n\nthe e-mail address of your account is ${newEmail} from now on. It will get no more mails at this one.`,
    'If you did not ask for that, turn to the operator of this service.',
  )
  return { subject: 'Your e-mail address was changed', text }
}

function paragraphs(...texts: string[]): string {
  return `${texts.join('\n\n')}\n`
}

/** A time in the largest unit that it is a whole number of. */
function inWords(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ] as const
  const [unit, size] = units.find(([, size]) => seconds % size === 0)!
  const count = seconds / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
