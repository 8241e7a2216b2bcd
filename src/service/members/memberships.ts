import { Denied, orNotFound } from '../../errors.ts'
import { LOGIN_AGE } from '../../limits.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Member } from '../../store/accounts/members.ts'
import * as store from '../../store/accounts/members.ts'
import { confirmPrimary } from '../../store/database.ts'
import * as sessions from '../../store/tokens/sign-on-sessions.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import { LOGIN_SETTINGS } from '../accounts/logins.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import type { Cursor, Page } from '../pagination.ts'
import { LACKS_FACTOR, withRights } from '../tokens/rights.ts'
import { add, type NewToken } from '../tokens/tokens.ts'
import { end, leftBy, tell } from './members.ts'

// The memberships of a person: the accounts for which it may act (contract §19.3).

/** Returns a page of the person's memberships, newest first. */
export async function list({ system, actor }: Visit, cursor?: Cursor): Promise<Page<Member>> {
  return store.page(system.db, { personId: actor.accountId }, cursor)
}

/** Counts the memberships of `list`. */
export async function count({ system, actor }: Visit): Promise<number> {
  return store.count(system.db, { personId: actor.accountId })
}

/** @throws NotFound */
export async function get({ system, actor }: Visit, id: string): Promise<Member> {
  return orNotFound(isUuid(id) ? await store.find(system.db, id, { personId: actor.accountId }) : undefined)
}

/**
 * Returns a login with which the person acts for the account; it has the rights of the membership as they are at each
 * request.
 * @throws NotFound; Denied if the account is disabled, or requires a second factor, or a group decides about the
 *   membership, and the person has not signed in at the issuer
 */
export async function open(visit: Visit, id: string): Promise<NewToken> {
  const { system, actor } = visit
  return withRights(visit, 'memberships', [], async (trx) => {
    const { accountId, requireMfa, source } = orNotFound(
      isUuid(id) ? await store.find(trx, id, { personId: actor.accountId }) : undefined,
    )
    if ((await accounts.get(trx, accountId))?.state !== 'active') throw new Denied('This account is disabled.')
    // Whoever leaves the group could otherwise stay with a password.
    if (source === 'group' && !(await sessions.exists(trx, actor.tokenId))) throw new Denied(BY_SIGN_ON)
    if (requireMfa && actor.mfa !== true) throw new Denied(LACKS_FACTOR)
    await tokens.removeExpiredLogins(trx, actor.accountId, system.now())
    await store.noteActive(trx, id, system.now())
    const { token, secret } = await add(system, trx, actor.accountId, LOGIN_SETTINGS, { mfa: actor.mfa, memberId: id })
    const maxAge = await store.endLike(trx, token.id, actor.tokenId, LOGIN_AGE)
    record(system, trx, 'token_created', { account: actor.accountId, token: token.id, by: actor.tokenId })
    return { token: { ...token, maxAge }, secret }
  })
}

const BY_SIGN_ON = 'Sign in with single sign-on to act for this account: a group there has made you a member.'

/** Ends a membership, if it exists, with its logins and the tokens that the person has made for the account. */
export async function leave(visit: Visit, id: string): Promise<void> {
  const { system, actor } = visit
  const side = { personId: actor.accountId }
  const known = isUuid(id) ? await store.find(system.db, id, side) : undefined
  const hasLeft = await withRights(visit, 'memberships', known === undefined ? [] : [`member ${id}`], async (trx) => {
    const member = known && (await store.find(trx, id, side))
    if (member === undefined) return false
    await end(trx, id, 'end')
    const account = { id: member.accountId, email: member.account }
    await tell(system, trx, account, member.email, `${member.email} has left your account.${leftBy(member)}`)
    record(system, trx, 'member_removed', { account: account.id, member: id, by: actor.tokenId })
    return true
  })
  if (!hasLeft) await confirmPrimary(system.db)
}
