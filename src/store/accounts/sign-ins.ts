import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, query, removal } from '../database.ts'
import type { Identity } from './identities.ts'

/** What a callback has found out, for the browser that got its code. */
export interface SignIn extends Identity {
  sid: string | null
  accountId: string
  /** Whether it counts as with a second factor. */
  mfa: boolean
  /** The groups of OIDC_GROUPS in which the person is. */
  groups: string[]
}

/** Notes that the callback of a sign-in has come; false if it has come before. */
export async function claim(db: Db, stateHash: Buffer, expires: Timestamp, now: Timestamp): Promise<boolean> {
  await query(db, removal('sign_ins', 'state_hash', 'expires < :now'), { now })
  const sql = `insert into sign_ins (state_hash, expires) values (:stateHash, :expires)
    on conflict do nothing returning true as claimed`
  return (await query(db, sql, { stateHash, expires })).length > 0
}

/** Stores the outcome under a code. @param validity of the code, in seconds */
export async function setOutcome(
  trx: Db,
  stateHash: Buffer,
  signIn: SignIn & { codeHash: Buffer; validity: number; now: Timestamp },
): Promise<void> {
  await query(
    trx,
    `update sign_ins set code_hash = :codeHash, issuer = :issuer, sub = :sub, sid = :sid, account_id = :accountId,
       mfa = :mfa, groups = :groups, code_expires = cast(:now as timestamptz) + :validity * interval '1 second'
     where state_hash = :stateHash`,
    { ...signIn, stateHash },
  )
}

/** The hashes of a code, and of the state of the browser that presents it. */
export interface Presented {
  codeHash: Buffer
  stateHash: Buffer
}

const VALID = 'code_hash = :codeHash and state_hash = :stateHash and code_expires >= :now'

export async function find(db: Db, presented: Presented, now: Timestamp): Promise<SignIn | undefined> {
  const sql = `select issuer, sub, sid, account_id as "accountId", mfa, groups from sign_ins where ${VALID}`
  return maybeOne(db, sql, { ...presented, now })
}

/** Uses up a code; of simultaneous ones, only one gets true. The callback cannot come again. */
export async function use(trx: Db, presented: Presented, now: Timestamp): Promise<boolean> {
  const sql = `update sign_ins set code_hash = null where ${VALID} returning true as used`
  return (await query(trx, sql, { ...presented, now })).length > 0
}

/** Voids the codes of an identity that have other groups than these. */
export async function voidOtherGroups(db: Db, { issuer, sub }: Identity, groups: string[]): Promise<void> {
  const sql = 'update sign_ins set code_hash = null where issuer = :issuer and sub = :sub and groups <> :groups'
  await query(db, sql, { issuer, sub, groups })
}

/** Voids the codes of an account, or those of one of its sessions. */
export async function voidCodes(trx: Db, accountId: string, sid: string | undefined): Promise<void> {
  const sql = `update sign_ins set code_hash = null where account_id = :accountId and (cast(:sid as text) is null or sid = :sid)`
  await query(trx, sql, { accountId, sid: sid ?? null })
}
