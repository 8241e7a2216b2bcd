import type { Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { compose, send } from './mails.ts'

const CONTACT = 'If you did not ask for this change, please contact the operator of this service.'
const PASSWORD = 'If this was not you, please set a new password, and let that page delete your API tokens.'
const PASSKEY = 'If this was not you, please sign in, delete the passkey, and set a new password.'

/** What an admin who is none any more leaves behind (contract §19.2), as the end of a notice to the account. */
export const LEFT_BY_ADMIN =
  ' What an admin has changed stays: transfers to servers, with their keys, rights of tokens of the account, and members ' +
  'whom the admin has invited. Please look at these.'

/** The notices of changes by mail, without a link; the text advises users who did not make the change. */
const NOTICES = {
  address: (email: string) => [
    'Your e-mail address was changed',
    `Your account now uses the e-mail address ${email}. We will not send any more mails to this address.`,
    CONTACT,
  ],
  password: () => ['Your password was changed', 'Somebody has set a new password for your account.', PASSWORD],
  'factor-added': () => [
    'A second factor was added to your account',
    'Logins to your account now need a code of one of your second factors. A new one was used for the first time.',
    CONTACT,
  ],
  'factor-removed': () => [
    'A second factor was removed from your account',
    'One of your second factors was deleted. If it was the last one, logins need no code any more.',
    PASSWORD,
  ],
  'passkey-added': (name: string) => [
    'A passkey was added to your account',
    `The passkey ${name} can now sign in to your account, and logins with the password need a second factor.`,
    PASSKEY,
  ],
  'passkey-removed': (name: string) => [
    'A passkey was removed from your account',
    `The passkey ${name} was deleted. If you have no other second factor, the password alone signs in now.`,
    PASSWORD,
  ],
  'passkey-copied': (name: string) => [
    'A passkey of your account may have been copied',
    `The passkey ${name} was used, and its counter has gone back, as that of a copy does. It was refused.`,
    'Please sign in another way, delete this passkey, and add a new one.',
  ],
  'factors-removed': () => [
    'The second factors of your account were removed',
    'The operator of this service has deleted all second factors of your account, and has ended its logins. ' +
      'The password alone signs in until you add a factor again.',
    CONTACT,
  ],
  'identity-linked': (name: string) => [
    'Your account was linked with single sign-on',
    `Whoever signs in with your identity at “${name}” now signs in to your account.`,
    CONTACT,
  ],
  'identity-unlinked': (name: string) => [
    'Your account is not linked with single sign-on any more',
    `Nobody signs in to your account by “${name}” any more, and the logins that began there have ended.`,
    PASSWORD,
  ],
  'managing-token': (name: string) => [
    'A token may manage your account',
    `The API token ${name} may now create and change tokens of your account, and so do everything that you can do.`,
    PASSWORD,
  ],
  'webhook-added': (host: string) => [
    'A webhook was added to your account',
    `What happens in your account is now sent to ${host}.`,
    'If this was not you, please delete the webhook, and set a new password.',
  ],
  'webhook-disabled': (sentence: string) => [
    'A webhook of your account was disabled',
    sentence,
    'Nothing more is sent to it until you enable it again. What happened meanwhile is in the activity of your account.',
  ],
  'handed-over': (email: string) => [
    'Your account was handed over',
    `The operator of this service has given your account, with its domains and API tokens, to ${email}. We will not send any more mails about it to this address.`,
    CONTACT,
  ],
  received: (email: string) => [
    'You have got an account',
    `The operator of this service has given you the account of ${email}, with its domains, API tokens and members. Its address is yours now. To log in, set a password: use "Forgotten password" on the page for signing in. The mail that you get then lists the API tokens, and the page can delete them.`,
    CONTACT,
  ],
  members: (sentence: string) => ['The members of your account have changed', sentence, PASSWORD],
  membership: (sentence: string) => [
    'Your rights for another account have changed',
    sentence,
    'If you have questions, please ask the owner of that account.',
  ],
} satisfies Record<string, (detail: string) => [subject: string, ...paragraphs: string[]]>

export type Notice = keyof typeof NOTICES

/**
 * Sends a notice, if this transaction commits.
 * @param account as it was before the change
 * @param detail the new address, the name of the token or passkey, or a sentence
 * @param kind of mail, of which a recipient gets only so many an hour (contract §14, `mail`)
 */
export async function notify(
  system: System,
  trx: Db,
  { id, email }: { id: string; email: string },
  notice: Notice,
  detail = '',
  kind: string = notice,
): Promise<void> {
  await send(system, trx, { to: email, accountId: id, kind }, compose(...NOTICES[notice](detail)))
}
