import { Conflict, Invalid, NotFound } from '../errors.ts'
import { transaction } from '../store/database.ts'
import * as store from '../store/operator.ts'
import type { Account, Domain, Token } from '../store/operator.ts'
import type { System } from '../system.ts'
import type { Actor } from './actor.ts'
import * as domains from './domains.ts'
import * as tokens from './tokens.ts'
import type { TokenSettings } from './tokens.ts'

// What the operator may do to other people's accounts, tokens and domains (contract §15.2); it has no counterpart in
// the API. One function for each command of the command line.

export type { Account, Domain, Token }

/** How many domains an account may have, and how many requests it may make in a day; what is absent stays. */
export interface Limits {
  limitDomains?: number | null
  dailyRate?: number | null
}

const EMAIL = /^[^\s@]{1,64}@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/

/** Makes an active account, which has no password. @throws Conflict if there is one with this address */
export async function createAccount(system: System, email: string, limits: Limits): Promise<Account> {
  if (!EMAIL.test(email)) throw Invalid.object(`"${email}" is no e-mail address.`)
  const defaults = { limitDomains: system.config.limitDomains ?? null, dailyRate: null }
  const account = await store.insertAccount(system.db, { email, ...defaults, ...limits, now: system.now() })
  if (account === undefined) throw new Conflict(`There is an account ${email} already.`)
  return account
}

export async function listAccounts(system: System): Promise<Account[]> {
  return store.accounts(system.db)
}

/** Lets an account's tokens and logins in again, or keeps them out; its domains are served all the same. */
export async function setAccountState(system: System, email: string, state: 'active' | 'disabled'): Promise<Account> {
  const { id } = await account(system, email)
  await store.setState(system.db, id, state, system.now())
  return account(system, email)
}

export async function setLimits(system: System, email: string, limits: Limits): Promise<Account> {
  await store.setLimits(system.db, { ...(await account(system, email)), ...limits })
  return account(system, email)
}

/**
 * Deletes an account and its tokens.
 * @param withDomains whether its domains go with it, each as if the account had deleted it. The account is disabled
 *   before, and if a domain cannot be deleted, it stays so
 * @throws Conflict if it has domains that shall not go
 */
export async function deleteAccount(system: System, email: string, withDomains: boolean): Promise<string[]> {
  const { id } = await account(system, email)
  if (withDomains) await store.setState(system.db, id, 'disabled', system.now())
  const names = (await store.domains(system.db, id)).map(({ name }) => name)
  if (names.length > 0 && !withDomains) {
    throw new Conflict(
      `${email} has ${names.length} ${names.length === 1 ? 'domain' : 'domains'}; nothing was deleted.`,
    )
  }
  for (const name of names) await domains.remove(system, ownerOf(id), name)
  if (!(await store.removeAccount(system.db, id)))
    throw new Conflict(`${email} got another domain meanwhile; try again.`)
  return names
}

/** The account itself, without restriction. */
function ownerOf(accountId: string): Actor {
  return {
    ...{ tokenId: '', accountId, override: false, dailyRate: null, mfa: null, mfaPending: false, autoPolicy: false },
    ...{ permCreateDomain: true, permDeleteDomain: true, permManageTokens: true, policies: [] },
  }
}

/** Makes a token of an account, and its secret, which is not to be had later. @throws Invalid */
export async function createToken(
  system: System,
  email: string,
  settings: Partial<TokenSettings>,
): Promise<{ token: Token; secret: string }> {
  const owner = ownerOf((await account(system, email)).id)
  const { token, secret } = await tokens.create(system, owner, { settings, problems: {} })
  return { token: (await store.token(system.db, token.id))!, secret }
}

/** The tokens that an account owns, and those that are bound to it. */
export async function listTokens(system: System, email: string): Promise<Token[]> {
  return store.tokens(system.db, (await account(system, email)).id)
}

export async function revokeToken(system: System, id: string): Promise<void> {
  if (!isUuid(id) || !(await store.removeToken(system.db, id))) throw noToken(id)
}

/**
 * Makes a token act for another account than its owner's, for good (contract §3.3).
 * @throws Invalid with every rule that speaks against it
 */
export async function bindToken(system: System, id: string, email: string): Promise<Token> {
  const bound = await account(system, email)
  return transaction(system.db, async (trx) => {
    const token = isUuid(id) ? await store.lockToken(trx, id) : undefined
    if (token === undefined) throw noToken(id)
    const problems = [
      ...(token.userOverride === null ? [] : [`The token is bound to ${token.userOverride} already, for good.`]),
      ...(token.owner === bound.email ? ['A token cannot be bound to its owner.'] : []),
      ...(token.mfa === null ? [] : ['A login token cannot be bound.']),
      ...(token.permManageTokens ? ['perm_manage_tokens and user_override are mutually exclusive.'] : []),
      ...(token.namesDomain ? ['A token whose policies name domains cannot be bound.'] : []),
    ]
    if (problems.length > 0) throw new Invalid({ non_field_errors: problems })
    await store.bindToken(trx, id, bound.id)
    return (await store.token(trx, id))!
  })
}

/** All domains, or those of one account. */
export async function listDomains(system: System, email?: string): Promise<Domain[]> {
  return store.domains(system.db, email === undefined ? null : (await account(system, email)).id)
}

/** Sets what TTLs in a domain may be from now on; those that are there stay. */
export async function setMinimumTtl(system: System, name: string, seconds: number): Promise<void> {
  if (!(await store.setMinimumTtl(system.db, name, seconds))) throw new NotFound(`There is no domain ${name}.`)
}

/** @throws NotFound */
export async function account(system: System, email: string): Promise<Account> {
  const found = await store.account(system.db, email)
  if (found === undefined) throw new NotFound(`There is no account ${email}.`)
  return found
}

function noToken(id: string): NotFound {
  return new NotFound(`There is no token ${id}.`)
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
