import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** What can be confirmed by a link in a mail (contract §11.3). */
export type Action = 'activate-account' | 'change-email' | 'reset-password' | 'delete-account' | 'create-totp'

/** What the code in a mail stands for. */
export interface Confirmation {
  accountId: string
  action: Action
  parameters: object
  /** That of the account when the code was made. */
  credentialsChanged: Timestamp
  used: boolean
}

/** Keeps a code, of which only the hash is known here, until it expires. @param validity seconds */
export async function insert(
  trx: Db,
  confirmation: Omit<Confirmation, 'used'> & { codeHash: Buffer; validity: number; now: Timestamp },
): Promise<void> {
  await query(
    trx,
    `insert into confirmations (code_hash, account_id, action, parameters, credentials_changed, expires)
     values (:codeHash, :accountId, :action, :parameters, :credentialsChanged,
       cast(:now as timestamptz) + :validity * interval '1 second')`,
    confirmation,
  )
}

/** What an unexpired code stands for. */
export async function find(db: Db, codeHash: Buffer, now: Timestamp): Promise<Confirmation | undefined> {
  const [confirmation] = await query<Confirmation>(
    db,
    `select account_id as "accountId", action, parameters, credentials_changed as "credentialsChanged", used
     from confirmations where code_hash = :codeHash and expires >= :now`,
    { codeHash, now },
  )
  return confirmation
}

/** Uses a code up; of what it stood for, no more is kept than that it was used. */
export async function use(trx: Db, codeHash: Buffer): Promise<void> {
  await query(trx, `update confirmations set used = true, parameters = '{}' where code_hash = :codeHash`, { codeHash })
}

/** Forgets the codes that have expired. */
export async function removeExpired(trx: Db, now: Timestamp): Promise<void> {
  await query(
    trx,
    `delete from confirmations where code_hash in (
       select code_hash from confirmations where expires < :now for update skip locked
     )`,
    { now },
  )
}
