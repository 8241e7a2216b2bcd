import { MailFailure } from '../../errors.ts'
import { type BackgroundTask, runPeriodically } from '../../flow/background.ts'
import { STOP_TIME } from '../../limits.ts'
import type { QueuedMail } from '../../store/accounts/mails.ts'
import * as mails from '../../store/accounts/mails.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'

/** Mails that are sent in parallel, and milliseconds between two searches for retries and other processes' mails. */
const MAIL_SENDERS = 2
const MAIL_PAUSE = 1_000

/** Milliseconds until a failed mail is retried: the first delay, which doubles up to the last one, an hour. */
const MAIL_FIRST_DELAY = 1_000
const MAIL_LAST_DELAY = 3_600_000

/** Milliseconds after which a failed mail is given up: two days. */
const MAIL_LIFETIME = 2 * 86_400_000

/** Milliseconds after which the row of a mail that was given up is deleted, because it has an address: 30 days. */
const MAIL_KEPT = 30 * 86_400_000

/**
 * Sends the mails that are due. One transaction locks, sends and deletes a mail, so several processes send it only
 * once. If a process dies or loses the database between the server's answer and the commit, the mail is sent again,
 * with the same Message-ID.
 * @param stopping begins no further mail
 * @param abort ends the attempt in flight
 */
export async function sendDue(
  system: System,
  stopping?: AbortSignal,
  abort: AbortSignal = new AbortController().signal,
): Promise<void> {
  // Usually no mail is due, and this query is cheaper than a transaction.
  if (!(await mails.areDue(system.db, system.now()))) return
  while (
    stopping?.aborted !== true &&
    (await transaction(system.pools.writers, (trx) => sendNext(system, trx, abort)))
  );
}

/** Sends one mail. Returns false if no mail was due. */
async function sendNext(system: System, trx: Db, abort: AbortSignal): Promise<boolean> {
  const mail = await mails.takeDue(trx, system.now())
  if (mail === undefined) return false
  try {
    await system.mailer.send(mail, abort)
    await mails.remove(trx, mail.id)
    system.metrics?.count('zoneplane_mails_total', { outcome: 'sent' })
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error
    await postpone(system, trx, mail, error)
  }
  return true
}

/** Schedules the next attempt, or gives up. */
async function postpone(system: System, trx: Db, mail: QueuedMail, failure: MailFailure): Promise<void> {
  const { id, created, attempts } = mail
  const { message: reason, isFinal } = failure
  const now = system.now()
  if (isFinal || Date.parse(now) - Date.parse(created) > MAIL_LIFETIME) {
    await mails.giveUp(trx, id, reason)
    system.metrics?.count('zoneplane_mails_total', { outcome: 'given_up' })
    system.log.error('mail delivery failed; giving up', { mail: id, attempts: attempts + 1, reason })
    return
  }
  const delay = Math.min(MAIL_FIRST_DELAY * 2 ** Math.min(attempts, 20), MAIL_LAST_DELAY)
  await mails.postpone(trx, id, reason, now, delay)
  system.metrics?.count('zoneplane_mails_total', { outcome: 'postponed' })
  system.log.warn('mail delivery failed; retrying', { mail: id, attempts: attempts + 1, reason })
}

/** Deletes the rows of mails that were given up long ago. */
export async function removeGivenUp(system: System): Promise<void> {
  await mails.removeGivenUp(system.db, system.now(), MAIL_KEPT)
}

/**
 * Sends mails as they become due: those that this process queues at once, others after `pause` at the latest. `stop`
 * waits up to STOP_TIME for the mails in flight, then aborts them.
 */
export function mailTask(system: System, pause = MAIL_PAUSE): BackgroundTask {
  const stopping = new AbortController()
  const abort = new AbortController()
  const send = () => sendDue(system, stopping.signal, abort.signal)
  const loops = Array.from({ length: MAIL_SENDERS }, () =>
    runPeriodically(system.log, 'mail queue', send, pause, stopping.signal, system.mailBell),
  )
  system.log.info('mail destination', { destination: system.mailer.destination })
  return {
    async stop() {
      stopping.abort()
      system.mailBell.ring()
      const timer = setTimeout(() => {
        abort.abort()
      }, STOP_TIME)
      await Promise.all(loops)
      clearTimeout(timer)
    },
  }
}
