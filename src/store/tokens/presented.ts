import type { Timestamp } from '../../time.ts'
import type { Role } from '../accounts/members.ts'
import { mfaEnabled } from '../accounts/second-factors.ts'
import { type Db, maybeOne } from '../database.ts'
import { VALID } from './tokens.ts'

/** A presented token, and the conditions of its use. */
export interface PresentedToken {
  id: string
  ownerId: string
  /** The account for which it acts, if not its owner. */
  userOverrideId: string | null
  /** The membership on which the token depends: it is a login with its role, or an API token that was made through it. */
  memberId: string | null
  /** The member of that membership. */
  personId: string | null
  /** The role of a member's login; null: it is none. */
  role: Role | null
  /** True if a member's login sees only some domains. */
  confined: boolean
  /** True if it is a member's login without the second factor that the account requires. */
  mfaLacking: boolean
  /** The daily rate of the account for which it acts. */
  dailyRate: number | null
  /** null: an API token; otherwise a login token, true if it has passed MFA (contract §5.1). */
  mfa: boolean | null
  /** True if it is a login token that has not passed MFA, although its account has MFA enabled (contract §3.2). */
  mfaPending: boolean
  permCreateDomain: boolean
  permDeleteDomain: boolean
  permManageTokens: boolean
  autoPolicy: boolean
  /** True if its writes need a message: the token requires one, or it is a login and its account does. */
  messageRequired: boolean
  /** True if it is neither too old nor unused for too long (contract §5.5). */
  valid: boolean
  /** True if its owner, the account for which it acts, and the member on which it depends are active. */
  active: boolean
  /** True if the address is in one of the token's networks. */
  allowed: boolean
  /** True if it has policies, or is the login of a member who may only read. */
  restricted: boolean
}

/** The presented token and its accounts, as the table `token`. */
const TOKEN = `with token as materialized (
    select tokens.*, case when bound.id is null then owner.daily_rate else bound.daily_rate end as daily_rate,
      ${VALID} as valid,
      owner.state = 'active' and coalesce(bound.state = 'active', true) and coalesce(person.state = 'active', true) as active,
      cast(:address as inet) <<= any (tokens.allowed_subnets) as allowed,
      bound.id as bound_id, member.id as membership, member.person_id,
      case when tokens.member_id is not null then member.role end as role,
      tokens.member_id is not null and member.confined as confined,
      tokens.member_id is not null and bound.require_mfa and not tokens.mfa as mfa_lacking,
      tokens.message_required or tokens.mfa is not null
        and case when bound.id is null then owner.require_message else bound.require_message end as needs_message
    from tokens
    join accounts owner on owner.id = tokens.owner_id
    left join members member on member.id = coalesce(tokens.member_id, tokens.made_by)
    left join accounts person on person.id = member.person_id
    left join accounts bound
      on bound.id = case when tokens.member_id is null then tokens.user_override_id else member.account_id end`

/**
 * The members of `PresentedToken`. `between` makes Postgres use the index. With `=` it scans the table if few tokens
 * have nearly all policies: it expects an early match, which is wrong for a token without policies.
 */
const PRESENTED = `select id, owner_id as "ownerId", bound_id as "userOverrideId", membership as "memberId",
    person_id as "personId", role, confined, mfa_lacking as "mfaLacking", daily_rate as "dailyRate", mfa,
    coalesce(not mfa, false) and ${mfaEnabled('owner_id')} as "mfaPending",
    perm_create_domain and coalesce(role = 'admin', true) as "permCreateDomain",
    perm_delete_domain and coalesce(role = 'admin', true) as "permDeleteDomain",
    perm_manage_tokens and coalesce(role = 'admin', true) as "permManageTokens", auto_policy as "autoPolicy",
    needs_message as "messageRequired",
    valid, active, allowed, coalesce(role = 'viewer', false)
      or exists (select from policies where policies.token_id between token.id and token.id) as restricted
  from token`

/** The SQL condition for the token of this id, if it has still this TSIG key, or none was presented. */
const BY_ID = `tokens.id = :id and (cast(:keyId as uuid) is null
  or exists (select from tsig_keys where token_id = tokens.id and id = :keyId))`

/**
 * Finds the token with this hash. If the client may use it from `address`, its `last_used` becomes `now`, unless the
 * row is locked, as by another request with the token: requests do not wait for each other. Nor does the statement wait
 * for the disk, so the latest `last_used` may be lost if Postgres crashes.
 */
export async function usePresented(
  db: Db,
  secretHash: Buffer,
  address: string,
  now: Timestamp,
): Promise<PresentedToken | undefined> {
  return maybeOne(
    db,
    `${TOKEN} where tokens.secret_hash = :secretHash), used as (
       ${noting(`select tokens.id from tokens join token on tokens.id = token.id
         where token.valid and active and allowed for no key update of tokens skip locked`)}
     )
     ${PRESENTED} left join used on true`,
    { now, address, secretHash },
  )
}

/**
 * Returns the present state of the token that was presented before from `address`; undefined also if the TSIG key that was
 * presented is no longer its key.
 */
export async function readPresented(
  trx: Db,
  { id, keyId }: { id: string; keyId: string | null },
  address: string,
  now: Timestamp,
): Promise<PresentedToken | undefined> {
  return maybeOne(trx, `${TOKEN} where ${BY_ID}) ${PRESENTED}`, { id, keyId, address, now })
}

/** Notes the use of a token, as `usePresented` does. */
export async function noteUse(db: Db, id: string, now: Timestamp): Promise<void> {
  await maybeOne(db, noting('select id from tokens where id = :id for no key update skip locked'), { id, now })
}

/** The SQL statement that notes the use of tokens, and does not wait for the disk. @param ids selects them */
function noting(ids: string): string {
  return `update tokens set last_used = :now where id in (${ids})
    returning set_config('synchronous_commit', 'off', true)`
}
