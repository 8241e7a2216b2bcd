import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, query, removal } from '../database.ts'

/** The actions that links in mails confirm (contract §11.3). */
export const ACTIONS = [
  'activate-account',
  'change-email',
  'reset-password',
  'delete-account',
  'create-totp',
  'create-passkey',
  'accept-invitation',
] as const
export type Action = (typeof ACTIONS)[number]

/** The action that the code in a mail confirms. */
export interface Confirmation {
  accountId: string
  action: Action
  parameters: object
  /** The account's value when the code was created. */
  credentialsChanged: Timestamp
  used: boolean
}

/** Stores the hash of a code until it expires. @param validity seconds */
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

/** Finds the confirmation of this code, unless it has expired. */
export async function find(db: Db, codeHash: Buffer, now: Timestamp): Promise<Confirmation | undefined> {
  return maybeOne(
    db,
    `select account_id as "accountId", action, parameters, credentials_changed as "credentialsChanged", used
     from confirmations where code_hash = :codeHash and expires >= :now`,
    { codeHash, now },
  )
}

/** Marks a code as used, and deletes its parameters. */
export async function use(trx: Db, codeHash: Buffer): Promise<void> {
  await query(trx, `update confirmations set used = true, parameters = '{}' where code_hash = :codeHash`, { codeHash })
}

/** Deletes the codes that have expired. */
export async function removeExpired(trx: Db, now: Timestamp): Promise<void> {
  await query(trx, removal('confirmations', 'code_hash', 'expires < :now'), { now })
}
