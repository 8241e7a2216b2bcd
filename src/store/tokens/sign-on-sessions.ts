import type { Timestamp } from '../../time.ts'
import type { Identity } from '../accounts/identities.ts'
import { type Db, query } from '../database.ts'

// The login tokens that began at an issuer of single sign-on.

/** Notes of a login token from which session at the issuer it comes. */
export async function insert(trx: Db, tokenId: string, session: Identity & { sid: string | null }): Promise<void> {
  const sql = `insert into sign_on_sessions (token_id, issuer, sub, sid) values (:tokenId, :issuer, :sub, :sid)`
  await query(trx, sql, { ...session, tokenId })
}

/** Reports whether a login token comes from a session at the issuer. */
export async function exists(db: Db, tokenId: string): Promise<boolean> {
  return (await query(db, 'select from sign_on_sessions where token_id = :tokenId', { tokenId })).length > 0
}

/** The sessions of an issuer: of a person, or with an id, or of both. */
export interface Sessions {
  issuer: string
  sub: string | null
  sid: string | null
}

const MATCHING = `identities.issuer = :issuer and (cast(:sub as text) is null or identities.sub = :sub)`

/** Returns the accounts that may have such sessions. */
export async function accountsOf(db: Db, sessions: Sessions): Promise<string[]> {
  const some = `:sub is not null or exists (
    select from sign_on_sessions session
    where (session.issuer, session.sub) = (identities.issuer, identities.sub) and session.sid = :sid
  ) or exists (select from sign_ins where sign_ins.account_id = identities.account_id and sign_ins.sid = :sid)`
  const sql = `select account_id as id from identities where ${MATCHING} and (${some.replace(':sub', 'cast(:sub as text)')})`
  return (await query<{ id: string }>(db, sql, { ...sessions })).map(({ id }) => id)
}

/** Deletes the login tokens of an account's sessions that began until then. Returns their ids. */
export async function remove(trx: Db, accountId: string, sessions: Sessions, until: Timestamp): Promise<string[]> {
  const sql = `delete from tokens using sign_on_sessions session
    where session.token_id = tokens.id and tokens.owner_id = :accountId and tokens.created <= :until
      and session.issuer = :issuer and (cast(:sub as text) is null or session.sub = :sub)
      and (cast(:sid as text) is null or session.sid = :sid)
    returning tokens.id`
  return (await query<{ id: string }>(trx, sql, { ...sessions, accountId, until })).map(({ id }) => id)
}
