import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** A mail that waits to be sent. */
export interface QueuedMail {
  id: string
  created: Timestamp
  to: string
  subject: string
  text: string
  attempts: number
}

/** Sends a mail once, and only if, this transaction has committed. The text is plain; it may hold a secret. */
export async function queue(
  trx: Db,
  mail: { to: string; subject: string; text: string; now: Timestamp },
): Promise<void> {
  await query(
    trx,
    `insert into mails (created, recipient, subject, text, retry_at) values (:now, :to, :subject, :text, :now)`,
    mail,
  )
}

/** Whether a mail waits to be sent now. */
export async function areDue(db: Db, now: Timestamp): Promise<boolean> {
  return (await query(db, 'select from mails where retry_at <= :now limit 1', { now })).length > 0
}

/** The mail that is due longest, unless others send it; locked until the transaction ends. */
export async function takeDue(trx: Db, now: Timestamp): Promise<QueuedMail | undefined> {
  const [mail] = await query<QueuedMail>(
    trx,
    `select id, created, recipient as to, subject, text, attempts from mails
     where retry_at <= :now order by retry_at limit 1 for update skip locked`,
    { now },
  )
  return mail
}

/** Forgets a mail that was sent. */
export async function remove(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from mails where id = :id', { id })
}

/** Notes that a mail could not be sent. @param delay milliseconds from now until it is tried again */
export async function postpone(trx: Db, id: string, reason: string, now: Timestamp, delay: number): Promise<void> {
  await query(
    trx,
    `update mails set attempts = attempts + 1, last_error = :reason,
       retry_at = cast(:now as timestamptz) + :delay * interval '1 millisecond'
     where id = :id`,
    { id, reason, now, delay },
  )
}

/** Gives a mail up: what remains of it tells the operator why, and no secret. */
export async function giveUp(trx: Db, id: string, reason: string): Promise<void> {
  await query(
    trx,
    `update mails set attempts = attempts + 1, last_error = :reason, retry_at = null, text = null where id = :id`,
    { id, reason },
  )
}
