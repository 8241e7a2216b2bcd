import { isDomainName } from '../../dns/names.ts'
import { Denied, Invalid, limitExceeded, orNotFound, unlessNotFound } from '../../errors.ts'
import { MEMBER_DOMAINS_MAX } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Member, Role } from '../../store/accounts/members.ts'
import * as store from '../../store/accounts/members.ts'
import { confirmPrimary, type Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { canonicalEmail } from '../accounts/accounts.ts'
import * as confirmations from '../accounts/confirmations.ts'
import { isNewLogin } from '../accounts/second-factor.ts'
import type { Actor, Visit } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import { LEFT_BY_ADMIN, notify } from '../mails/notices.ts'
import type { Cursor, Page } from '../pagination.ts'
import { type Holder, OWN_LOGIN, withRights } from '../tokens/rights.ts'

// Members of an account: other accounts that may act for it, with a role (contract §19).

export { ROLES } from '../../store/accounts/members.ts'
export type { Member, Role }

/** The rights of a member in a request; an absent one stays as it is, or has its default: all domains. */
export interface MemberRights {
  role?: Role | undefined
  /** The names of the only domains that the member shall see; null: all. */
  domains?: string[] | null | undefined
}

/** What happens to the API tokens that somebody has made as a member whose rights end. */
export type Fate = 'keep' | 'end'

/** Returns a page of the account's members and invitations, newest first. */
export async function list({ system, actor }: Visit, cursor?: Cursor): Promise<Page<Member>> {
  return store.page(system.db, { accountId: actor.accountId }, cursor)
}

/** Counts the members of `list`. */
export async function count({ system, actor }: Visit): Promise<number> {
  return store.count(system.db, { accountId: actor.accountId })
}

/** @throws NotFound */
export async function get({ system, actor }: Visit, id: string): Promise<Member> {
  return orNotFound(isUuid(id) ? await store.find(system.db, id, { accountId: actor.accountId }) : undefined)
}

/**
 * Invites the owner of an address to become a member: nobody does without accepting. A mail tells the account.
 * @param base the URL of the API
 * @throws Invalid; Denied if the account has as many members as it can have, or as `refuseOldLogin`
 */
export async function invite(
  visit: Visit,
  { email, role, domains = null }: { email: string; role: Role; domains?: string[] | null | undefined },
  base: string,
): Promise<Member> {
  const { system, actor } = visit
  return withRights(visit, 'members', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, actor.accountId))
    if (role === 'admin') await refuseOldLogin(system, trx, actor)
    const id = await insert(system, trx, account, { email, role, domains, source: 'invitation', personId: null })
    const by = await authorOf(trx, actor)
    const note = `${by} invites you to act for the account ${account.email}, as ${phraseOf({ role, domains })}.`
    const link = { base, to: canonicalEmail(email), note }
    if (
      !(await confirmations.request(
        system,
        trx,
        account,
        'accept-invitation',
        { memberId: id, by: actor.memberId },
        link,
      ))
    ) {
      throw Invalid.field('email', 'This address has got too many invitations. Try again tomorrow.')
    }
    const made = (await store.find(trx, id))!
    await tell(
      system,
      trx,
      account,
      made.email,
      `${by} has invited ${made.email} to your account, as ${phraseOf(made)}.`,
    )
    record(system, trx, 'member_invited', { account: account.id, member: id, by: actor.tokenId })
    return made
  })
}

/** Adds a member or an invitation to an account, which is locked. @returns its id @throws Invalid, Denied */
export async function insert(
  system: System,
  trx: Db,
  account: Account,
  { email, domains, ...member }: Pick<Member, 'email' | 'role' | 'domains' | 'source' | 'personId'>,
): Promise<string> {
  const address = canonicalEmail(email)
  if (address.toLowerCase() === account.email.toLowerCase()) {
    throw Invalid.field('email', "This is the account's own address.")
  }
  const present = await store.withEmail(trx, account.id, address)
  if (present !== undefined) {
    throw Invalid.field(
      'email',
      present.personId === null
        ? 'This address is invited already. Delete the invitation before you send another.'
        : 'This address is that of a member already. Change the role of the member.',
    )
  }
  const most = system.config.limitMembers
  if ((await store.count(trx, { accountId: account.id })) >= most) throw limitExceeded('an account', most, 'members')
  const ids = await domainIds(trx, account.id, member.role, domains)
  const confined = domains !== null
  const inserted = { ...member, email: address, accountId: account.id, confined, now: system.now() }
  const id = await store.insert(trx, inserted)
  await store.setRights(trx, id, member.role, ids)
  return id
}

/** Returns the ids of these domains of the account; null for all. @throws Invalid */
async function domainIds(trx: Db, accountId: string, role: Role, names: string[] | null): Promise<number[] | null> {
  if (names === null) return null
  if (role === 'admin') throw Invalid.field('domains', 'An admin sees all domains: this must be null.')
  if (names.length > MEMBER_DOMAINS_MAX) {
    throw Invalid.field('domains', `Ensure this field has no more than ${MEMBER_DOMAINS_MAX} elements.`)
  }
  const found = await store.keepDomains(trx, accountId, names.filter(isDomainName))
  const missing = names.filter((name) => !found.has(name))
  if (missing.length > 0) {
    throw Invalid.field('domains', ...missing.map((name) => `Object with name=${name} does not exist.`))
  }
  return [...found.values()]
}

/**
 * Changes the rights of a member, also for its requests that are on their way. Of an admin who becomes less, the API
 * tokens that it has made end, unless they are kept.
 * @param input called only if the actor may change the member
 * @throws NotFound, Denied, Invalid
 */
export async function change(visit: Visit, id: string, fate: Fate, input: () => MemberRights): Promise<Member> {
  const { system, actor } = visit
  return withMember(visit, id, fate, async (trx, member, account) => {
    const { role = member.role, domains = role === 'admin' ? null : member.domains } = input()
    if (role === 'admin' && member.role !== 'admin') await refuseOldLogin(system, trx, actor)
    await store.setRights(trx, id, role, await domainIds(trx, account.id, role, domains))
    if (member.role === 'admin' && role !== 'admin') await endTokens(trx, id, fate)
    const result = (await store.find(trx, id))!
    const by = await authorOf(trx, actor)
    await tell(
      system,
      trx,
      account,
      member.email,
      `${by} has changed the role of ${member.email}: ${phraseOf(result)}.${role === 'admin' ? '' : leftBy(member)}`,
    )
    await tellMember(system, trx, result, `Your role for the account ${account.email} is now: ${phraseOf(result)}.`)
    record(system, trx, 'member_changed', { account: account.id, member: id, by: actor.tokenId })
    return result
  })
}

/** Removes a member or an invitation, if it exists: its logins end, and its tokens, unless they are kept. @throws Denied */
export async function remove(visit: Visit, id: string, fate: Fate): Promise<void> {
  const { system, actor } = visit
  const removed = await withMember(visit, id, fate, async (trx, member, account) => {
    await end(trx, id, fate)
    const by = await authorOf(trx, actor)
    const sentence = `${by} has removed ${member.email} from your account.${leftBy(member)}`
    await tell(system, trx, account, member.email, sentence)
    await tellMember(system, trx, member, `You may no longer act for the account ${account.email}.`)
    record(system, trx, 'member_removed', { account: account.id, member: id, by: actor.tokenId })
    return true
  }).catch(unlessNotFound)
  if (removed !== true) await confirmPrimary(system.db)
}

/**
 * Runs `work` in a transaction that reserves the rights of a member of the account.
 * @throws NotFound; Denied if the groups of single sign-on decide about it, or if a member would keep tokens
 */
async function withMember<T>(
  visit: Visit,
  id: string,
  fate: Fate,
  work: (trx: Db, member: Member, account: Account) => Promise<T>,
): Promise<T> {
  const { system, actor } = visit
  // Whose rights end would keep a token that outlives them.
  if (fate === 'keep' && actor.role !== null) throw new Denied(OWN_LOGIN)
  const side = { accountId: actor.accountId }
  const known = isUuid(id) ? await store.find(system.db, id, side) : undefined
  // Callers must not block foreign members.
  const changed: Holder[] = known === undefined ? [] : [`member ${id}`]
  return withRights(visit, 'members', changed, async (trx) => {
    const account = orNotFound(await accounts.lock(trx, actor.accountId))
    const member = orNotFound(known && (await store.find(trx, id, side)))
    if (member.source === 'group') {
      throw new Denied('The groups of single sign-on decide about this member. Change them there.')
    }
    return work(trx, member, account)
  })
}

/** Makes admins only with a new login: whoever has stolen an old one gets none that goes on without it. @throws Denied */
async function refuseOldLogin(system: System, trx: Db, actor: Actor): Promise<void> {
  if (await isNewLogin(system, trx, actor)) return
  throw new Denied('Sign in again: an admin can be invited or made only within ten minutes of a login.')
}

async function endTokens(trx: Db, id: string, fate: Fate): Promise<void> {
  if (fate === 'keep') await store.freeTokens(trx, id)
  else await store.removeTokens(trx, id)
}

/** Ends a membership whose rights are reserved. */
export async function end(trx: Db, id: string, fate: Fate): Promise<void> {
  if (fate === 'keep') await store.freeTokens(trx, id)
  await store.remove(trx, id)
}

/** Returns the address of the person who acts. */
async function authorOf(trx: Db, { ownerId }: Actor): Promise<string> {
  return (await accounts.get(trx, ownerId))!.email
}

const PHRASES: Record<Role, string> = {
  viewer: 'a viewer, who may read',
  editor: 'an editor, who may also change records',
  admin: 'an admin, who may do all but change its address, password and second factors, and delete it',
}

export function phraseOf({ role, domains }: Pick<Member, 'role' | 'domains'>): string {
  if (domains === null) return PHRASES[role]
  return `${PHRASES[role]}, of ${domains.length === 1 ? `the domain ${domains[0]}` : `${domains.length} domains`}`
}

/** The end of the sentence to the account about a member whose role ends. */
export function leftBy({ role, personId }: Member): string {
  return role === 'admin' && personId !== null ? LEFT_BY_ADMIN : ''
}

/**
 * Tells the account about a member. The mails about each are counted apart: many about one do not keep back those about
 * another.
 */
export async function tell(
  system: System,
  trx: Db,
  account: Pick<Account, 'id' | 'email'>,
  about: string,
  sentence: string,
): Promise<void> {
  await notify(system, trx, account, 'members', sentence, `members ${about.toLowerCase()}`)
}

export async function tellMember(
  system: System,
  trx: Db,
  { personId, email }: Member,
  sentence: string,
): Promise<void> {
  if (personId !== null) await notify(system, trx, { id: personId, email }, 'membership', sentence)
}
