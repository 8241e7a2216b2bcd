import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query, removal } from '../database.ts'
import { mfaEnabled } from './second-factors.ts'

/** The number of networks that the service remembers as a user's (contract §14). */
const KNOWN_NETWORKS = 10

export type AccountState = 'pending' | 'active' | 'disabled'

export interface Account {
  id: string
  created: Timestamp
  email: string
  /** null: no login is possible until a password is set. */
  passwordHash: string | null
  state: AccountState
  /** The number of its domains. */
  domains: number
  /** The maximum number of its domains; null: no limit. */
  limitDomains: number | null
  /** The maximum number of its requests in a day; null: the general rate. */
  dailyRate: number | null
  /** The maximum of octets of its domains' histories; null: the general limit. */
  limitHistoryOctets: number | null
  /** True if the operator may write about other things than the account. */
  outreachPreference: boolean
  /** True if members need a second factor to act for it. */
  requireMfa: boolean
  /** True if writes by logins need a message (contract §15.14). */
  requireMessage: boolean
  /** The time of the last change of e-mail address, password, MFA or state. */
  credentialsChanged: Timestamp
  /** The networks from which the user last logged in or set a password, latest first. */
  knownNetworks: string[]
  /** The name of the account for authenticators: random, so that it says nothing about it. */
  userHandle: string
}

/** The limits of an account that the operator can set. */
export type Limits = Pick<Account, 'limitDomains' | 'dailyRate' | 'limitHistoryOctets'>

const COLUMNS = `id, created, email, password_hash as "passwordHash", state, domains, limit_domains as "limitDomains",
  daily_rate as "dailyRate", limit_history_octets as "limitHistoryOctets", outreach_preference as "outreachPreference",
  require_mfa as "requireMfa", require_message as "requireMessage", credentials_changed as "credentialsChanged",
  known_networks as "knownNetworks", user_handle as "userHandle"`

/** Returns all accounts, sorted by address. */
export async function all(db: Db): Promise<Account[]> {
  return query(db, `select ${COLUMNS} from accounts order by lower(email)`)
}

export async function get(db: Db, id: string): Promise<Account | undefined> {
  return maybeOne(db, `select ${COLUMNS} from accounts where id = :id`, { id })
}

/** Returns the account with this address, compared without case. */
export async function withEmail(db: Db, email: string): Promise<Account | undefined> {
  return maybeOne(db, `select ${COLUMNS} from accounts where lower(email) = lower(:email)`, { email })
}

export type NewAccount = Omit<
  Account,
  'id' | 'created' | 'domains' | 'requireMfa' | 'requireMessage' | 'credentialsChanged' | 'knownNetworks' | 'userHandle'
> & {
  now: Timestamp
}

/** Adds an account; undefined if the address is taken. */
export async function insert(trx: Db, account: NewAccount): Promise<Account | undefined> {
  return maybeOne(
    trx,
    `insert into accounts
       (created, email, password_hash, state, limit_domains, daily_rate, limit_history_octets, outreach_preference,
        credentials_changed)
     values (:now, :email, :passwordHash, :state, :limitDomains, :dailyRate, :limitHistoryOctets, :outreachPreference, :now)
     on conflict (lower(email)) do nothing returning ${COLUMNS}`,
    account,
  )
}

/**
 * Replaces a pending account's data from its sign-up, which invalidates the code that was sent for it. Undefined if no
 * pending account has this address.
 */
export async function replacePending(trx: Db, account: NewAccount): Promise<Account | undefined> {
  return maybeOne(
    trx,
    `update accounts set created = :now, email = :email, password_hash = :passwordHash, state = :state,
       outreach_preference = :outreachPreference,
       credentials_changed = greatest(:now, credentials_changed + interval '1 microsecond')
     where lower(email) = lower(:email) and state = 'pending' returning ${COLUMNS}`,
    account,
  )
}

/** Changes credentials of an account, which invalidates all codes sent to it before. Returns the account. */
export async function changeCredentials(
  trx: Db,
  id: string,
  changes: Partial<Pick<Account, 'email' | 'passwordHash' | 'state'>>,
  now: Timestamp,
): Promise<Account> {
  return one(
    trx,
    `update accounts set email = coalesce(:email, email), password_hash = coalesce(:passwordHash, password_hash),
       state = coalesce(:state, state),
       credentials_changed = greatest(:now, credentials_changed + interval '1 microsecond')
     where id = :id returning ${COLUMNS}`,
    { email: null, passwordHash: null, state: null, ...changes, id, now },
  )
}

/** Gives the account to somebody else: its address changes, and what proves who its owner is goes. Returns the account. */
export async function replaceOwner(trx: Db, id: string, email: string, now: Timestamp): Promise<Account> {
  await query(trx, `update accounts set password_hash = null, known_networks = '{}' where id = :id`, { id })
  return changeCredentials(trx, id, { email }, now)
}

/**
 * Stores the network from which the user has just proved their identity; keeps KNOWN_NETWORKS of them.
 * @param isProved false: only by the password; then only if the account has no second factor
 */
export async function addKnownNetwork(
  trx: Db,
  id: string,
  network: string,
  { isProved }: { isProved: boolean },
): Promise<void> {
  await query(
    trx,
    `update accounts set known_networks =
       (array_prepend(cast(:network as text), array_remove(known_networks, :network)))[1 : cast(:limit as integer)]
     where id = :id and known_networks[1] is distinct from :network
       and (:isProved or not ${mfaEnabled(':id')})`,
    { id, network, isProved, limit: KNOWN_NETWORKS },
  )
}

/** Takes the password from an account that is pending, if there is one with this address; its links stay valid. */
export async function forgetPendingPassword(db: Db, email: string): Promise<void> {
  await query(db, `update accounts set password_hash = null where lower(email) = lower(:email) and state = 'pending'`, {
    email,
  })
}

/** Stores another hash of the same password. */
export async function setPasswordHash(trx: Db, id: string, passwordHash: string): Promise<void> {
  await query(trx, 'update accounts set password_hash = :passwordHash where id = :id', { id, passwordHash })
}

/** The settings of an account that its owner can change; an absent one stays. */
export type OwnSettings = Partial<Pick<Account, 'outreachPreference' | 'requireMfa' | 'requireMessage'>>

export async function setOwnSettings(db: Db, id: string, settings: OwnSettings): Promise<void> {
  await query(
    db,
    `update accounts set outreach_preference = coalesce(:outreachPreference, outreach_preference),
       require_mfa = coalesce(:requireMfa, require_mfa),
       require_message = coalesce(:requireMessage, require_message) where id = :id`,
    { outreachPreference: null, requireMfa: null, requireMessage: null, ...settings, id },
  )
}

export async function setLimits(
  db: Db,
  id: string,
  { limitDomains, dailyRate, limitHistoryOctets }: Limits,
): Promise<Account> {
  return one(
    db,
    `update accounts
     set limit_domains = :limitDomains, daily_rate = :dailyRate, limit_history_octets = :limitHistoryOctets
     where id = :id returning ${COLUMNS}`,
    { id, limitDomains, dailyRate, limitHistoryOctets },
  )
}

/** Deletes an account that has no domains, and with it its tokens, TOTP factors and passkeys. */
export async function remove(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from accounts where id = :id', { id })
}

/** Deletes the accounts that were created before this time and are still pending. */
export async function removePending(trx: Db, before: Timestamp): Promise<void> {
  await query(trx, removal('accounts', 'id', `state = 'pending' and created < :before`), { before })
}

/** Counts the account's domains, and the domains of other accounts that the policies of its override tokens name. */
export async function domainsUnderManagement(db: Db, id: string): Promise<number> {
  const { count } = await one<{ count: number }>(
    db,
    `select (select count(*) from domains where owner_id = :id) + (
       select count(distinct policies.domain_id) from policies join tokens on tokens.id = policies.token_id
       where tokens.owner_id = :id and tokens.user_override_id is not null
     ) as count`,
    { id },
  )
  return count
}

/** Returns the account, locked until the transaction ends. */
export async function lock(trx: Db, id: string): Promise<Account | undefined> {
  return maybeOne(trx, `select ${COLUMNS} from accounts where id = :id for no key update`, { id })
}

/** Serializes the creation of the account's domains until the transaction ends; locks nothing else. */
export async function lockQuota(trx: Db, id: string): Promise<void> {
  await query(trx, 'select pg_advisory_xact_lock(hashtextextended(:id, 1))', { id })
}
