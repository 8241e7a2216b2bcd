import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import * as store from '../../store/accounts/members.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { end, insert, phraseOf, type Role, ROLES, tell } from '../members/members.ts'
import { changing, type Holder, renew, reserve } from '../tokens/rights.ts'

/** What groups give somebody: the account, and the role; of several roles the one with the most rights. */
type Wanted = Map<string, Role>

/** What a sign-in changes about memberships. */
interface Settlement {
  wanted: Wanted
  /** The memberships that it ends or changes. */
  changed: Holder[]
  /** The accounts of which the person becomes a member. */
  joined: string[]
}

/**
 * Makes the memberships of somebody as the groups are now, after `work`, in one transaction that locks the accounts.
 * @param reserved whose rights `work` changes
 * @param visit of whoever asks for it, if that is a login of the account: its rights for factors are renewed
 * @throws Unauthenticated, Denied, Busy, and errors of `work`
 */
export async function withGroups<T = void>(
  system: System,
  accountId: string,
  groups: readonly string[],
  work: (trx: Db, account: Account | undefined) => Promise<T> = async () => undefined as T,
  reserved: Holder[] = [],
  visit?: Visit,
): Promise<T> {
  const settlement = await settlementOf(system, accountId, groups)
  const holders = [...reserved, ...settlement.changed]
  return changing(system, `groups of ${accountId}`, holders, () =>
    transaction(system.db, async (trx) => {
      if (visit === undefined) await reserve(trx, ...holders)
      else await renew(system, trx, visit.actor, 'factors', holders)
      const locked = new Map<string, Account>()
      // Sorted, so that nobody waits for another one who waits for him: each can be in a group of the other.
      for (const id of [accountId, ...settlement.joined].sort()) {
        const account = await accounts.lock(trx, id)
        if (account !== undefined) locked.set(id, account)
      }
      const account = locked.get(accountId)
      const result = await work(trx, account)
      if (account !== undefined) await settle(system, trx, account, settlement, locked)
      return result
    }),
  )
}

/** Finds out what a sign-in changes. @param groups those in which the person is @returns also whose rights to reserve */
async function settlementOf(system: System, person: string, groups: readonly string[]): Promise<Settlement> {
  const wanted: Wanted = new Map()
  for (const { group, account: email, role } of system.config.oidcGroups) {
    if (!groups.includes(group)) continue
    const account = await accounts.withEmail(system.db, email)
    if (account === undefined) {
      system.log.warn('OIDC_GROUPS names an account that does not exist', { group })
      continue
    }
    const other = wanted.get(account.id)
    const isMore = other === undefined || ROLES.indexOf(role) > ROLES.indexOf(other)
    // Nobody is a member of the own account.
    if (account.id !== person && isMore) wanted.set(account.id, role)
  }
  const present = await store.ofGroups(system.db, person)
  const others = present.filter(({ accountId, role }) => wanted.get(accountId) !== role)
  const joined = [...wanted.keys()].filter((id) => !present.some(({ accountId }) => accountId === id))
  return { wanted, changed: others.map(({ id }): Holder => `member ${id}`), joined }
}

/**
 * Makes the memberships of groups as the groups are now. Those that somebody has made by hand stay as they are.
 * @param person locked, as the rights of the settlement are
 * @param locked the accounts that it joins, as far as they are there
 */
async function settle(
  system: System,
  trx: Db,
  person: Account,
  { wanted, changed, joined }: Settlement,
  locked: Map<string, Account>,
): Promise<void> {
  const by = 'sign-on'
  const present = await store.ofGroups(trx, person.id)
  for (const member of present) {
    const { id, accountId: account, role } = member
    const now = wanted.get(account)
    // Another sign-in has made it meanwhile.
    if (!changed.includes(`member ${id}`)) continue
    if (now === undefined) {
      await end(trx, id, 'end')
      record(system, trx, 'member_removed', { account, member: id, by })
    } else {
      await store.setRights(trx, id, now, null)
      if (role === 'admin') await store.removeTokens(trx, id)
      record(system, trx, 'member_changed', { account, member: id, by })
    }
  }
  for (const account of joined) {
    const host = locked.get(account)
    if (host === undefined || present.some(({ accountId }) => accountId === account)) continue
    const id = await join(system, trx, person, host, wanted.get(account)!)
    if (id !== undefined) record(system, trx, 'member_joined', { account, member: id, by })
  }
}

/**
 * Adds a membership of an account, which is locked, unless the person has one that was made by hand. An invitation gives
 * way. @returns its id
 */
async function join(
  system: System,
  trx: Db,
  { id: personId, email }: Account,
  account: Account,
  role: Role,
): Promise<string | undefined> {
  const accountId = account.id
  const present = await store.withEmail(trx, accountId, email)
  if (present !== undefined && present.personId !== null) return undefined
  if (present !== undefined) await store.remove(trx, present.id)
  const member = { email, personId, role, domains: null, source: 'group' } as const
  const most = system.config.limitMembers
  if ((await store.count(trx, { accountId })) >= most) {
    system.log.warn('a group makes nobody a member: the account has as many as it can have', { account: accountId })
    return undefined
  }
  const id = await insert(system, trx, account, member)
  await tell(
    system,
    trx,
    account,
    email,
    `${email} is now a member of your account by a group, as ${phraseOf(member)}.`,
  )
  return id
}
