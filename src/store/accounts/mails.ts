import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'

/** A mail in the queue. */
export interface QueuedMail {
  id: string
  created: Timestamp
  to: string
  subject: string
  text: string
  attempts: number
}

/** Queues a mail, which is sent if this transaction commits. The text is plain, and may contain a secret. */
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

/** Reports whether a mail is due. */
export async function areDue(db: Db, now: Timestamp): Promise<boolean> {
  return (await query(db, 'select from mails where retry_at <= :now limit 1', { now })).length > 0
}

/** Counts the mails in the queue, and the age of the oldest in seconds. */
export async function state(db: Db): Promise<{ number: number; age: number }> {
  return one(
    db,
    `select count(*) as number, cast(coalesce(extract(epoch from now() - min(created)), 0) as float8) as age
     from mails where retry_at is not null`,
  )
}

/** Locks the mail that has been due longest until the transaction ends; skips mails that others have locked. */
export async function takeDue(trx: Db, now: Timestamp): Promise<QueuedMail | undefined> {
  return maybeOne(
    trx,
    `select id, created, recipient as to, subject, text, attempts from mails
     where retry_at <= :now order by retry_at limit 1 for update skip locked`,
    { now },
  )
}

/** Deletes a sent mail. */
export async function remove(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from mails where id = :id', { id })
}

/** Stores a failure. @param delay milliseconds until the next attempt */
export async function postpone(trx: Db, id: string, reason: string, now: Timestamp, delay: number): Promise<void> {
  await query(
    trx,
    `update mails set attempts = attempts + 1, last_error = :reason,
       retry_at = cast(:now as timestamptz) + :delay * interval '1 millisecond'
     where id = :id`,
    { id, reason, now, delay },
  )
}

/** Gives a mail up: keeps the row with the reason for the operator, and deletes the text, which may hold a secret. */
export async function giveUp(trx: Db, id: string, reason: string): Promise<void> {
  await query(
    trx,
    `update mails set attempts = attempts + 1, last_error = :reason, retry_at = null, text = null where id = :id`,
    { id, reason },
  )
}

/** Deletes the mails that were given up and are older than `age` milliseconds. */
export async function removeGivenUp(db: Db, now: Timestamp, age: number): Promise<void> {
  await query(
    db,
    `delete from mails where retry_at is null and created < cast(:now as timestamptz) - :age * interval '1 millisecond'`,
    { now, age },
  )
}
