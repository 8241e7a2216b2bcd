import { MailFailure } from '../../errors.ts'
import { MAIL_FIRST_DELAY, MAIL_LAST_DELAY, MAIL_LIFETIME, MAIL_PAUSE, MAIL_SENDERS, STOP_TIME } from '../../limits.ts'
import { transaction, type Db } from '../../store/database.ts'
import * as mails from '../../store/mails.ts'
import type { QueuedMail } from '../../store/mails.ts'
import type { System } from '../../system.ts'
import { runPeriodically, type BackgroundTask } from '../background.ts'

/**
 * Sends the mails that are due. A mail is locked while it is sent, and forgotten in that transaction: each is sent
 * once by any number of processes, but again if one dies, or loses the database, between the server's word and its
 * commit; the two are the same then, by their Message-ID.
 */
export async function sendDue(
  system: System,
  stopping?: AbortSignal,
  late: AbortSignal = new AbortController().signal,
): Promise<void> {
  // Looking costs less than a transaction, and mostly there is nothing.
  if (!(await mails.areDue(system.db, system.now()))) return
  while (stopping?.aborted !== true && (await transaction(system.writersDb, (trx) => sendNext(system, trx, late))));
}

/** Whether there was a mail to send. */
async function sendNext(system: System, trx: Db, late: AbortSignal): Promise<boolean> {
  const mail = await mails.takeDue(trx, system.now())
  if (mail === undefined) return false
  try {
    await system.mailer.send(mail, late)
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error
    await putOff(system, trx, mail, error)
    return true
  }
  await mails.remove(trx, mail.id)
  return true
}

async function putOff(
  system: System,
  trx: Db,
  mail: QueuedMail,
  { message: reason, isFinal }: MailFailure,
): Promise<void> {
  const { id, created, attempts } = mail
  const now = system.now()
  if (isFinal || Date.parse(now) - Date.parse(created) > MAIL_LIFETIME) {
    await mails.giveUp(trx, id, reason)
    system.log.error('mail given up', { mail: id, attempts: attempts + 1, reason })
    return
  }
  const delay = Math.min(MAIL_FIRST_DELAY * 2 ** Math.min(attempts, 20), MAIL_LAST_DELAY)
  await mails.postpone(trx, id, reason, now, delay)
  system.log.warn('mail not sent', { mail: id, attempts: attempts + 1, reason })
}

/** Sends mails as they become due, until stopped; then what is being sent has a while to be. */
export function keepSending(system: System): BackgroundTask {
  const stopping = new AbortController()
  const late = new AbortController()
  const { signal } = stopping
  const send = () => sendDue(system, signal, late.signal)
  const loops = Array.from({ length: MAIL_SENDERS }, () =>
    runPeriodically(system, 'sending mail', send, MAIL_PAUSE, signal),
  )
  system.log.info('mails go to', { destination: system.mailer.destination })
  return {
    async stop() {
      stopping.abort()
      const timer = setTimeout(() => {
        late.abort()
      }, STOP_TIME)
      await Promise.all(loops)
      clearTimeout(timer)
    },
  }
}
