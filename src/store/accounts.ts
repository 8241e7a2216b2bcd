import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

export type AccountState = 'pending' | 'active' | 'disabled'

export interface Account {
  id: string
  created: Timestamp
  email: string
  /** null: nobody can log in until a password is set. */
  passwordHash: string | null
  state: AccountState
  /** How many domains it has. */
  domains: number
  /** How many it may have; null: no limit. */
  limitDomains: number | null
  /** Requests that it may make in a day; null: the general rate. */
  dailyRate: number | null
  /** Whether the operator may write about other things than the account. */
  outreachPreference: boolean
  /** When e-mail address, password, MFA or state changed last. */
  credentialsChanged: Timestamp
}

const COLUMNS = `id, created, email, password_hash as "passwordHash", state, domains, limit_domains as "limitDomains",
  daily_rate as "dailyRate", outreach_preference as "outreachPreference", credentials_changed as "credentialsChanged"`

/** All accounts, by address. */
export async function all(db: Db): Promise<Account[]> {
  return query(db, `select ${COLUMNS} from accounts order by lower(email)`)
}

export async function get(db: Db, id: string): Promise<Account | undefined> {
  const [account] = await query<Account>(db, `select ${COLUMNS} from accounts where id = :id`, { id })
  return account
}

/** The account with this address, in whatever case. */
export async function withEmail(db: Db, email: string): Promise<Account | undefined> {
  const sql = `select ${COLUMNS} from accounts where lower(email) = lower(:email)`
  const [account] = await query<Account>(db, sql, { email })
  return account
}

export type NewAccount = Omit<Account, 'id' | 'created' | 'domains' | 'credentialsChanged'> & { now: Timestamp }

/** Adds an account, unless there is one with this address: then undefined. */
export async function insert(trx: Db, account: NewAccount): Promise<Account | undefined> {
  const [row] = await query<Account>(
    trx,
    `insert into accounts
       (created, email, password_hash, state, limit_domains, daily_rate, outreach_preference, credentials_changed)
     values (:now, :email, :passwordHash, :state, :limitDomains, :dailyRate, :outreachPreference, :now)
     on conflict (lower(email)) do nothing returning ${COLUMNS}`,
    account,
  )
  return row
}

/** Changes what an account is known by; every code that was sent to it before is void. Returns the account. */
export async function changeCredentials(
  trx: Db,
  id: string,
  changes: Partial<Pick<Account, 'email' | 'passwordHash' | 'state'>>,
  now: Timestamp,
): Promise<Account> {
  const [account] = await query<Account>(
    trx,
    `update accounts set email = coalesce(:email, email), password_hash = coalesce(:passwordHash, password_hash),
       state = coalesce(:state, state),
       credentials_changed = greatest(:now, credentials_changed + interval '1 microsecond')
     where id = :id returning ${COLUMNS}`,
    { email: null, passwordHash: null, state: null, ...changes, id, now },
  )
  return account!
}

/** Stores another hash of the same password. */
export async function setPasswordHash(trx: Db, id: string, passwordHash: string): Promise<void> {
  await query(trx, 'update accounts set password_hash = :passwordHash where id = :id', { id, passwordHash })
}

export async function setOutreachPreference(db: Db, id: string, preference: boolean): Promise<void> {
  await query(db, 'update accounts set outreach_preference = :preference where id = :id', { id, preference })
}

export async function setLimits(
  db: Db,
  id: string,
  { limitDomains, dailyRate }: Pick<Account, 'limitDomains' | 'dailyRate'>,
): Promise<Account> {
  const [account] = await query<Account>(
    db,
    `update accounts set limit_domains = :limitDomains, daily_rate = :dailyRate where id = :id returning ${COLUMNS}`,
    { id, limitDomains, dailyRate },
  )
  return account!
}

/** Deletes an account that has no domains, with its tokens and what else hangs on it. */
export async function remove(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from accounts where id = :id', { id })
}

/** Deletes the accounts that were made before a point in time and not confirmed since. */
export async function removePending(trx: Db, before: Timestamp): Promise<void> {
  // Two who do this at once may not wait for each other's rows.
  await query(
    trx,
    `delete from accounts where id in (
       select id from accounts where state = 'pending' and created < :before for update skip locked
     )`,
    { before },
  )
}

/** How many domains the account has, and how many of others the policies of its override tokens name. */
export async function domainsUnderManagement(db: Db, id: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `select (select count(*) from domains where owner_id = :id) + (
       select count(distinct policies.domain_id) from policies join tokens on tokens.id = policies.token_id
       where tokens.owner_id = :id and tokens.user_override_id is not null
     ) as count`,
    { id },
  )
  return row!.count
}

/** Makes sure that an active account with this address exists, and returns its id. */
export async function ensure(
  db: Db,
  account: { email: string; limitDomains: number | null; now: Timestamp },
): Promise<string> {
  await query(
    db,
    `insert into accounts (created, email, state, limit_domains, credentials_changed)
     values (:now, :email, 'active', :limitDomains, :now) on conflict (lower(email)) do nothing`,
    account,
  )
  const [row] = await query<{ id: string }>(db, 'select id from accounts where lower(email) = lower(:email)', account)
  return row!.id
}

/** The account, locked until the transaction ends. */
export async function lock(trx: Db, id: string): Promise<Account | undefined> {
  const sql = `select ${COLUMNS} from accounts where id = :id for no key update`
  const [account] = await query<Account>(trx, sql, { id })
  return account
}

/** Locks the right to add a domain to the account until the transaction ends; nothing else of it. */
export async function lockQuota(trx: Db, id: string): Promise<void> {
  await query(trx, 'select pg_advisory_xact_lock(hashtextextended(:id, 1))', { id })
}

/** Whether the account may have another domain. */
export async function hasRoom(db: Db, id: string): Promise<boolean> {
  const [row] = await query<{ free: boolean }>(
    db,
    'select limit_domains is null or limit_domains > domains as free from accounts where id = :id',
    { id },
  )
  return row?.free ?? false
}

/** How many domains the account has. */
export async function countDomains(db: Db, id: string): Promise<number> {
  const [row] = await query<{ domains: number }>(db, 'select domains from accounts where id = :id', { id })
  return row?.domains ?? 0
}
