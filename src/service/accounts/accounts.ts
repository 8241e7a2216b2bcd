import { Conflict, Invalid, NotFound } from '../../errors.ts'
import type { Account, AccountState } from '../../store/accounts/accounts.ts'
import * as store from '../../store/accounts/accounts.ts'
import * as members from '../../store/accounts/members.ts'
import * as webhooks from '../../store/accounts/webhooks.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { operatorFor, type Visit } from '../actor.ts'
import * as domains from '../domains/domains.ts'
import { record } from '../events.ts'
import { LEFT_BY_ADMIN, notify } from '../mails/notices.ts'
import { NO_CONDITIONS } from '../rrsets/conditions.ts'
import { type Holder, reserve, withRights } from '../tokens/rights.ts'
import { wake } from '../webhooks/delivering.ts'

export type { Account }

export type AccountWithCounts = Account & { domainsUnderManagement: number }

const EMAIL_LENGTH = 254
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const HOST = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/** Returns the problems of an e-mail address (contract §11.1): it must be a dot-atom at a host (RFC 5322 §3.4.1). */
export function emailProblems(email: string): string[] {
  const at = email.lastIndexOf('@')
  const [local, host] = [email.slice(0, at), email.slice(at + 1)]
  const isAddress = at > 0 && email.length <= EMAIL_LENGTH && local.length <= 64 && LOCAL_PART.test(local)
  return isAddress && HOST.test(host) ? [] : ['Enter a valid email address.']
}

/** Returns the stored form of an address: its host name is case-insensitive, hence in lower case. */
export function canonicalEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return email.slice(0, at) + email.slice(at).toLowerCase()
}

/** Returns the actor's account. */
export async function show({ system, actor }: Visit): Promise<AccountWithCounts> {
  const [account, domainsUnderManagement] = await Promise.all([
    store.get(system.db, actor.accountId),
    store.domainsUnderManagement(system.db, actor.accountId),
  ])
  return { ...account!, domainsUnderManagement }
}

/** Changes the settings that users can change themselves. */
export async function change(visit: Visit, settings: store.OwnSettings): Promise<AccountWithCounts> {
  const { system, actor } = visit
  if (Object.keys(settings).length > 0) {
    // It takes rights from members without a factor.
    const changed: Holder[] = settings.requireMfa === undefined ? [] : [`account ${actor.accountId}`]
    await withRights(visit, 'ownAccount', changed, async (trx) => {
      await store.setOwnSettings(trx, actor.accountId, settings)
      record(system, trx, 'account_changed', { account: actor.accountId, by: actor.tokenId })
    })
  }
  return show(visit)
}

/** Adds an account of a sign-up, or replaces a pending one. Returns undefined if the address is taken. */
export async function add(
  system: System,
  trx: Db,
  email: string,
  values: Pick<Account, 'passwordHash' | 'state' | 'outreachPreference'>,
): Promise<Account | undefined> {
  const account = newAccount(system, email, values)
  return (await store.insert(trx, account)) ?? store.replacePending(trx, account)
}

/** Returns an account, by default an active one with the configured limits. */
function newAccount(system: System, email: string, values: Partial<store.NewAccount>): store.NewAccount {
  return {
    email: canonicalEmail(email),
    passwordHash: null,
    state: 'active',
    limitDomains: system.config.limitDomains ?? null,
    dailyRate: null,
    limitHistoryOctets: null,
    outreachPreference: true,
    now: system.now(),
    ...values,
  }
}

/** Deletes an account without domains, whose rights are reserved, and tells the accounts for which its owner may act. */
export async function end(system: System, trx: Db, { id, email }: Pick<Account, 'id' | 'email'>): Promise<void> {
  for (const host of await members.hosts(trx, id)) {
    await notify(
      system,
      trx,
      host,
      'members',
      `${email} is no member of your account any more: that account was deleted.${host.role === 'admin' ? LEFT_BY_ADMIN : ''}`,
    )
  }
  await store.remove(trx, id)
}

// Operations of the operator, on any account (contract §15.2).

/** The maximum of an account's domains, requests per day, and octets of history; an absent limit stays. */
export type Limits = Partial<store.Limits>

/** Creates an active account without a password. @throws Invalid; Conflict if the address is taken */
export async function create(system: System, email: string, limits: Limits): Promise<Account> {
  if (emailProblems(email).length > 0) throw Invalid.object(`"${email}" is not an e-mail address.`)
  return transaction(system.db, async (trx) => {
    const account = await store.insert(trx, newAccount(system, email, limits))
    if (account === undefined) throw new Conflict(`Account ${email} already exists.`)
    record(system, trx, 'account_created', { account: account.id })
    return account
  })
}

export async function list(system: System): Promise<Account[]> {
  return store.all(system.db)
}

/** Finds the account with this address, compared case-insensitively. @throws NotFound */
export async function withEmail(system: System, email: string): Promise<Account> {
  const account = await store.withEmail(system.db, email)
  if (account === undefined) throw new NotFound(`Account ${email} does not exist.`)
  return account
}

/** Enables or disables an account's tokens, logins and webhooks; its domains stay published. */
export async function setState(system: System, email: string, state: AccountState): Promise<Account> {
  const account = await withEmail(system, email)
  if (account.state === state) return account
  return transaction(system.db, async (trx) => {
    await reserve(trx, `account ${account.id}`)
    record(system, trx, 'account_changed', { account: account.id })
    // Their work is put off while the account is disabled.
    if (state === 'active') await wake(system, trx, ...(await webhooks.enabled(trx, account.id)))
    return store.changeCredentials(trx, account.id, { state }, system.now())
  })
}

export async function setLimits(system: System, email: string, limits: Limits): Promise<Account> {
  const account = await withEmail(system, email)
  return transaction(system.db, async (trx) => {
    record(system, trx, 'account_changed', { account: account.id })
    return store.setLimits(trx, account.id, { ...account, ...limits })
  })
}

/**
 * Deletes an account and its tokens, and returns the names of the domains that it deleted with them.
 * @param withDomains true to also delete its domains. This disables the account first, and the account stays disabled
 *   if the deletion of a domain fails
 * @throws Conflict if the account has domains that may not be deleted
 */
export async function remove(system: System, email: string, withDomains: boolean): Promise<string[]> {
  const { id, ...account } = withDomains ? await setState(system, email, 'disabled') : await withEmail(system, email)
  if (account.domains > 0 && !withDomains) {
    const count = account.domains === 1 ? '1 domain' : `${account.domains} domains`
    throw new Conflict(`${email} has ${count}; nothing was deleted.`)
  }
  const names = (await domains.listAll(system, id)).map(({ name }) => name)
  for (const name of names) await domains.remove({ system, actor: operatorFor(id) }, name, NO_CONDITIONS)
  await transaction(system.db, async (trx) => {
    await reserve(trx, `account ${id}`)
    const last = await store.lock(trx, id)
    if (last !== undefined && last.domains > 0) throw new Conflict(`${email} got another domain; try again.`)
    await end(system, trx, { id, email })
    record(system, trx, 'account_deleted', { account: id })
  })
  return names
}
