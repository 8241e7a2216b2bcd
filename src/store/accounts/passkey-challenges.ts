import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, query, removal } from '../database.ts'

/** What a challenge is for. */
export interface Purpose {
  use: 'creation' | 'signature'
  /** The login token that asks, and its account; null: nobody has signed in. */
  accountId: string | null
  tokenId: string | null
}

/** Stores a challenge. @param validity seconds */
export async function insert(
  db: Db,
  challenge: Purpose & { challenge: Buffer; now: Timestamp; validity: number },
): Promise<void> {
  await query(
    db,
    `insert into passkey_challenges (challenge, use, account_id, token_id, expires)
     values (:challenge, :use, :accountId, :tokenId, cast(:now as timestamptz) + :validity * interval '1 second')`,
    { ...challenge },
  )
}

/** Deletes and returns a challenge, so that it can be answered only once; undefined if it is unknown or has expired. */
export async function take(trx: Db, challenge: Buffer, now: Timestamp): Promise<Purpose | undefined> {
  return maybeOne(
    trx,
    `delete from passkey_challenges where challenge = :challenge and expires >= :now
     returning use, account_id as "accountId", token_id as "tokenId"`,
    { challenge, now },
  )
}

/** Deletes the challenges that have expired. */
export async function removeExpired(db: Db, now: Timestamp): Promise<void> {
  await query(db, removal('passkey_challenges', 'challenge', 'expires < :now'), { now })
}
