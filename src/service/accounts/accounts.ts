import { Conflict, Invalid, NotFound } from '../../errors.ts'
import * as store from '../../store/accounts.ts'
import type { Account, AccountState } from '../../store/accounts.ts'
import { transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { unrestricted, type Actor } from '../tokens/actor.ts'
import * as domains from '../domains/domains.ts'

export type { Account }

/** What an account shows of itself. */
export type AccountWithCounts = Account & { domainsUnderManagement: number }

const EMAIL_LENGTH = 254
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const HOST = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/** What is wrong with an e-mail address (contract §11.1): a dot-atom at a host name (RFC 5322 §3.4.1) is right. */
export function emailProblems(email: string): string[] {
  const at = email.lastIndexOf('@')
  const [local, host] = [email.slice(0, at), email.slice(at + 1)]
  const isAddress = at > 0 && email.length <= EMAIL_LENGTH && local.length <= 64 && LOCAL_PART.test(local)
  return isAddress && HOST.test(host) ? [] : ['Enter a valid email address.']
}

/** An address as it is stored: host names have no case. */
export function canonicalEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return email.slice(0, at) + email.slice(at).toLowerCase()
}

/** The account that the actor acts for. */
export async function show(system: System, actor: Actor): Promise<AccountWithCounts> {
  const [account, domainsUnderManagement] = await Promise.all([
    store.get(system.db, actor.accountId),
    store.domainsUnderManagement(system.db, actor.accountId),
  ])
  return { ...account!, domainsUnderManagement }
}

/** Changes what an account can change of itself. */
export async function change(
  system: System,
  actor: Actor,
  { outreachPreference }: { outreachPreference?: boolean },
): Promise<AccountWithCounts> {
  if (outreachPreference !== undefined) {
    await store.setOutreachPreference(system.db, actor.accountId, outreachPreference)
  }
  return show(system, actor)
}

// What only the operator does, to anybody's account, named by its e-mail address (contract §15.2).

/** How many domains an account may have, and how many requests it may make in a day; what is absent stays. */
export type Limits = Partial<Pick<Account, 'limitDomains' | 'dailyRate'>>

/** Makes an active account, which has no password. @throws Invalid; Conflict if there is one with this address */
export async function create(system: System, email: string, limits: Limits): Promise<Account> {
  if (emailProblems(email).length > 0) throw Invalid.object(`"${email}" is no e-mail address.`)
  const account = await store.insert(system.db, {
    ...{ email: canonicalEmail(email), passwordHash: null, state: 'active', outreachPreference: true },
    ...{ limitDomains: system.config.limitDomains ?? null, dailyRate: null },
    ...limits,
    now: system.now(),
  })
  if (account === undefined) throw new Conflict(`There is an account ${email} already.`)
  return account
}

export async function list(system: System): Promise<Account[]> {
  return store.all(system.db)
}

/** The account with this address, in whatever case. @throws NotFound */
export async function withEmail(system: System, email: string): Promise<Account> {
  const account = await store.withEmail(system.db, email)
  if (account === undefined) throw new NotFound(`There is no account ${email}.`)
  return account
}

/** Lets an account's tokens and logins in again, or keeps them out; its domains are served all the same. */
export async function setState(system: System, email: string, state: AccountState): Promise<Account> {
  const account = await withEmail(system, email)
  return account.state === state ? account : store.changeCredentials(system.db, account.id, { state }, system.now())
}

export async function setLimits(system: System, email: string, limits: Limits): Promise<Account> {
  const account = await withEmail(system, email)
  return store.setLimits(system.db, account.id, { ...account, ...limits })
}

/**
 * Deletes an account and its tokens, and returns the names of the domains that went with it.
 * @param withDomains whether they may, each as if the account had deleted it. The account is disabled before, and if a
 *   domain cannot be deleted, it stays so
 * @throws Conflict if it has domains that shall not go
 */
export async function remove(system: System, email: string, withDomains: boolean): Promise<string[]> {
  const { id, ...account } = withDomains ? await setState(system, email, 'disabled') : await withEmail(system, email)
  if (account.domains > 0 && !withDomains) {
    throw new Conflict(`${email} has ${counted(account.domains)}; nothing was deleted.`)
  }
  const names = (await domains.listAll(system, id)).map(({ name }) => name)
  for (const name of names) await domains.remove(system, unrestricted(id), name)
  await transaction(system.db, async (trx) => {
    const last = await store.lock(trx, id)
    if (last !== undefined && last.domains > 0) throw new Conflict(`${email} got another domain meanwhile; try again.`)
    await store.remove(trx, id)
  })
  return names
}

function counted(domains: number): string {
  return domains === 1 ? '1 domain' : `${domains} domains`
}
