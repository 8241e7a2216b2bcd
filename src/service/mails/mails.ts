import * as accounts from '../../store/accounts/accounts.ts'
import * as store from '../../store/accounts/mails.ts'
import { type Db, onceCommitted } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { isWithinRates } from '../throttling/rates.ts'

/** Subject and plain text of a mail. */
export interface MailText {
  subject: string
  text: string
}

/** Returns the text of a mail that consists of these paragraphs. */
export function compose(subject: string, ...paragraphs: string[]): MailText {
  return { subject, text: `${['Hello,', ...paragraphs].join('\n\n')}\n` }
}

/**
 * Queues a mail, which is sent once this transaction commits.
 * @param options.accountId the account that the mail is about
 * @param options.kind the action that the mail confirms, or the notice that it gives
 * @returns false if the recipient has got too many of this kind (contract §14, `mail`); then the log has it instead
 */
export async function send(
  system: System,
  trx: Db,
  { to, accountId, kind }: { to: string; accountId: string; kind: string },
  text: MailText,
): Promise<boolean> {
  if (!(await isWithinRates(system, 'mail', `${to.toLowerCase()} ${kind}`))) {
    system.log.warn('mail dropped: too many of its kind', { kind, account: accountId })
    return false
  }
  await store.queue(trx, { to, ...text, now: system.now() })
  onceCommitted(trx, () => {
    system.mailBell.ring()
  })
  return true
}

/** Acts like `send`, to the address of an account. */
export async function sendToAccount(
  system: System,
  trx: Db,
  accountId: string,
  kind: string,
  text: MailText,
): Promise<boolean> {
  const { email } = (await accounts.get(trx, accountId))!
  return send(system, trx, { to: email, accountId, kind }, text)
}
