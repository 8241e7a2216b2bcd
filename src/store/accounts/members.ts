import type { Pool } from 'pg'
import type { Duration, Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'
import { mfaEnabled } from './second-factors.ts'

/** The roles of members, from the least rights to the most (contract §19.1). */
export const ROLES = ['viewer', 'editor', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** An account that may act for another one, or is invited to. */
export interface Member {
  id: string
  /** The time of the invitation. */
  created: Timestamp
  accountId: string
  /** The address of the account for which the member acts. */
  account: string
  requireMfa: boolean
  /** The member's own account; null: the invitation is not accepted. */
  personId: string | null
  /** The address of the member's own account, or the one that is invited. */
  email: string
  role: Role
  /** The names of the only domains that the member sees, sorted; null: all. */
  domains: string[] | null
  source: 'invitation' | 'operator' | 'group'
  accepted: Timestamp | null
  lastActive: Timestamp | null
  /** Whether the member's own account has a second factor. */
  mfaEnabled: boolean
}

const COLUMNS = `members.id, members.created, members.account_id as "accountId", members.person_id as "personId",
  (select email from accounts where accounts.id = members.account_id) as account,
  (select require_mfa from accounts where accounts.id = members.account_id) as "requireMfa",
  coalesce((select email from accounts where accounts.id = members.person_id), members.email) as email,
  members.role, members.source, members.accepted, ${mfaEnabled('members.person_id')} as "mfaEnabled",
  greatest(members.last_active, (select max(last_used) from tokens where tokens.member_id = members.id)) as "lastActive",
  case when members.confined then array(
    select name from member_domains join domains on domains.id = domain_id where member_id = members.id order by name
  ) end as domains`

/** Whose members: those of an account, or the accepted memberships of a person. */
type Side = { accountId: string } | { personId: string }

function condition(side: Side): string {
  return 'accountId' in side ? 'members.account_id = :accountId' : 'members.person_id = :personId'
}

/** Returns a page of members, newest first. */
export async function page(pool: Pool, side: Side, cursor?: Cursor): Promise<Page<Member>> {
  const octets = '(select coalesce(sum(octet_length(name)), 0) from unnest(domains) as name)'
  return pageOf(
    pool,
    { table: 'members', columns: COLUMNS, octets, conditions: [condition(side)], bindings: side },
    cursor,
  )
}

/** Ends all memberships of a person, with its logins and the tokens that depend on them. */
export async function leaveAll(trx: Db, personId: string): Promise<void> {
  await query(trx, 'delete from members where person_id = :personId', { personId })
}

/** Returns the accounts for which a person may act, and as what. */
export async function hosts(db: Db, personId: string): Promise<{ id: string; email: string; role: Role }[]> {
  const sql = `select accounts.id, accounts.email, role from members join accounts on accounts.id = account_id
    where person_id = :personId`
  return query(db, sql, { personId })
}

/** Returns all members of an account, oldest first. */
export async function all(db: Db, accountId: string): Promise<Member[]> {
  return query(db, `select ${COLUMNS} from members where account_id = :accountId order by created, id`, { accountId })
}

/** Returns the memberships of a person that groups of single sign-on have given. */
export async function ofGroups(db: Db, personId: string): Promise<Member[]> {
  return query(db, `select ${COLUMNS} from members where person_id = :personId and source = 'group'`, { personId })
}

export async function count(db: Db, side: Side): Promise<number> {
  return (await one<{ n: number }>(db, `select count(*) as n from members where ${condition(side)}`, side)).n
}

/** Finds a member of this side. @param side undefined: any */
export async function find(db: Db, id: string, side?: Side): Promise<Member | undefined> {
  const sql = `select ${COLUMNS} from members where id = :id ${side === undefined ? '' : `and ${condition(side)}`}`
  return maybeOne(db, sql, { ...side, id })
}

/** Finds the member of an account with this address: the invited one, or that of the member's own account. */
export async function withEmail(db: Db, accountId: string, email: string): Promise<Member | undefined> {
  return maybeOne(
    db,
    `select ${COLUMNS} from members where account_id = :accountId and (
       person_id = (select id from accounts where lower(email) = lower(:email))
       or (person_id is null and lower(email) = lower(:email)))
     order by accepted nulls last limit 1`,
    { accountId, email },
  )
}

/** Returns the ids of the account's domains of these names. They cannot be deleted until the transaction ends. */
export async function keepDomains(trx: Db, accountId: string, names: string[]): Promise<Map<string, number>> {
  const sql =
    'select id, name from domains where owner_id = :accountId and name = any (:names) order by id for key share'
  const found = await query<{ id: number; name: string }>(trx, sql, { accountId, names })
  return new Map(found.map(({ id, name }) => [name, id]))
}

/** Adds an invitation, or, with `personId`, a member. @returns its id */
export async function insert(
  trx: Db,
  member: Pick<Member, 'accountId' | 'personId' | 'email' | 'role' | 'source'> & { confined: boolean; now: Timestamp },
): Promise<string> {
  const { id } = await one<{ id: string }>(
    trx,
    `insert into members (created, account_id, person_id, email, role, confined, source, accepted)
     values (:now, :accountId, :personId, :email, :role, :confined, :source,
       case when cast(:personId as uuid) is not null then cast(:now as timestamptz) end)
     returning id`,
    member,
  )
  return id
}

/** Stores the role, and the only domains that the member sees; null: all. */
export async function setRights(trx: Db, id: string, role: Role, domainIds: number[] | null): Promise<void> {
  await query(
    trx,
    `with changed as (
       update members set role = :role, confined = cast(:domainIds as bigint[]) is not null where id = :id
     ), gone as (
       delete from member_domains where member_id = :id and not coalesce(domain_id = any (cast(:domainIds as bigint[])), false)
     )
     insert into member_domains (member_id, domain_id)
     select :id, domain_id from unnest(cast(:domainIds as bigint[])) as domain_id on conflict do nothing`,
    { id, role, domainIds },
  )
}

/** Makes an invitation a membership of this account. */
export async function accept(trx: Db, id: string, personId: string, now: Timestamp): Promise<void> {
  await query(trx, 'update members set person_id = :personId, accepted = :now where id = :id', { id, personId, now })
}

/** Stores that the member is active now. */
export async function noteActive(trx: Db, id: string, now: Timestamp): Promise<void> {
  await query(trx, 'update members set last_active = :now where id = :id', { id, now })
}

/** Deletes a member, with its sessions and the tokens that depend on it. */
export async function remove(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from members where id = :id', { id })
}

/** Lets the tokens that were made through a membership no longer depend on it; they keep the name of their maker. */
export async function freeTokens(trx: Db, id: string): Promise<void> {
  await query(trx, 'update tokens set made_by = null where made_by = :id', { id })
}

/** Deletes the tokens that were made through a membership. */
export async function removeTokens(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from tokens where made_by = :id', { id })
}

/**
 * Lets a login end when the one from which it was opened would, by its age or by the issuer of single sign-on; at the
 * latest at an age of `longest`. It is as old as that one, where a new login is needed. @returns its `maxAge`
 */
export async function endLike(trx: Db, tokenId: string, opener: string, longest: Duration): Promise<Duration> {
  const { maxAge } = await one<{ maxAge: Duration }>(
    trx,
    `with session as (
       insert into sign_on_sessions (token_id, issuer, sub, sid)
       select :tokenId, issuer, sub, sid from sign_on_sessions where token_id = :opener
     )
     update tokens set signed_in = opener.created, max_age = case when opener.max_age is null then cast(:longest as interval) else
       least(greatest(justify_hours(opener.max_age - (tokens.created - opener.created)), interval '0'), :longest)
     end
     from tokens opener where tokens.id = :tokenId and opener.id = :opener
     returning tokens.max_age as "maxAge"`,
    { tokenId, opener, longest },
  )
  return maxAge
}
