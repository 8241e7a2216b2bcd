import * as accounts from '../../store/accounts/accounts.ts'
import type { Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { HOUR } from '../../time.ts'
import { isWithinRates } from '../throttling/rates.ts'
import { add, type Kind } from '../work/work.ts'

/** Subject and plain text of a mail. */
export interface MailText {
  subject: string
  text: string
}

/**
 * Sends a mail. If the process dies, or loses the database, between the server's answer and the deletion of the work, the
 * mail is sent again, with the same Message-ID. It is given up after two days.
 */
export const MAIL: Kind = {
  kind: 'mail',
  all: 2,
  retry: [...Array.from({ length: 12 }, (_, i) => 2 ** i), ...Array<number>(47).fill(HOUR)],
  async run({ mailer }, { subject: id, created, payload }, signal) {
    await mailer.send({ id, created, ...(payload as MailText & { to: string }) }, signal)
    return undefined
  },
}

/** Returns the text of a mail that consists of these paragraphs. */
export function compose(subject: string, ...paragraphs: string[]): MailText {
  return { subject, text: `${['Hello,', ...paragraphs].join('\n\n')}\n` }
}

/**
 * Queues a mail, which is sent once this transaction commits.
 * @param options.accountId the account that the mail is about; none: it is for the operator
 * @param options.kind the action that the mail confirms, or the notice that it gives
 * @returns false if the recipient has got too many of this kind (contract §14, `mail`); then the log has it instead
 */
export async function send(
  system: System,
  trx: Db,
  { to, accountId, kind }: { to: string; accountId?: string; kind: string },
  text: MailText,
): Promise<boolean> {
  if (!(await isWithinRates(system, 'mail', `${to.toLowerCase()} ${kind}`))) {
    system.log.warn('mail dropped: too many of its kind', { kind, account: accountId })
    return false
  }
  await add(system, trx, { kind: MAIL.kind, accountId, due: system.now(), payload: { to, ...text } })
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
