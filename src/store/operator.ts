import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

// What only the operator's command line asks of accounts, tokens and domains: of all accounts, by e-mail address.

export interface Account {
  id: string
  email: string
  state: 'pending' | 'active' | 'disabled'
  created: Timestamp
  /** How many domains it has. */
  domains: number
  /** How many it may have; null: no limit. */
  limitDomains: number | null
  /** Requests in a day; null: the general rate. */
  dailyRate: number | null
}

const ACCOUNT = `accounts.id, accounts.email, accounts.state, accounts.created, accounts.domains,
  accounts.limit_domains as "limitDomains", accounts.daily_rate as "dailyRate"`

/** All accounts, by address. */
export async function accounts(db: Db): Promise<Account[]> {
  return query(db, `select ${ACCOUNT} from accounts order by lower(email)`)
}

/** The account with this address, in whatever case. */
export async function account(db: Db, email: string): Promise<Account | undefined> {
  const [row] = await query<Account>(db, `select ${ACCOUNT} from accounts where lower(email) = lower(:email)`, {
    email,
  })
  return row
}

/** Adds an active account without password; undefined if there is one with this address. */
export async function insertAccount(
  db: Db,
  values: { email: string; limitDomains: number | null; dailyRate: number | null; now: Timestamp },
): Promise<Account | undefined> {
  const [row] = await query<Account>(
    db,
    `insert into accounts (created, email, state, limit_domains, daily_rate, credentials_changed)
     values (:now, :email, 'active', :limitDomains, :dailyRate, :now)
     on conflict (lower(email)) do nothing returning ${ACCOUNT}`,
    values,
  )
  return row
}

/** Sets the state; codes that were mailed before are void then. */
export async function setState(db: Db, id: string, state: Account['state'], now: Timestamp): Promise<void> {
  await query(
    db,
    `update accounts set state = :state,
       credentials_changed = greatest(:now, credentials_changed + interval '1 microsecond')
     where id = :id and state <> :state`,
    { id, state, now },
  )
}

export async function setLimits(
  db: Db,
  { id, limitDomains, dailyRate }: Pick<Account, 'id' | 'limitDomains' | 'dailyRate'>,
): Promise<void> {
  await query(db, 'update accounts set limit_domains = :limitDomains, daily_rate = :dailyRate where id = :id', {
    id,
    limitDomains,
    dailyRate,
  })
}

/** Deletes an account, and with it its tokens and those that are bound to it; false if it has domains. */
export async function removeAccount(db: Db, id: string): Promise<boolean> {
  return (await query(db, 'delete from accounts where id = :id and domains = 0 returning id', { id })).length > 0
}

export interface Token {
  id: string
  name: string
  /** The e-mail address of the account. */
  owner: string
  /** That of the account it is bound to. */
  userOverride: string | null
  created: Timestamp
  lastUsed: Timestamp | null
  /** null: no login token. */
  mfa: boolean | null
  permCreateDomain: boolean
  permDeleteDomain: boolean
  permManageTokens: boolean
  /** Whether a policy of it names a domain. */
  namesDomain: boolean
}

const TOKEN = `select tokens.id, tokens.name, owner.email as owner, bound.email as "userOverride", tokens.created,
    tokens.last_used as "lastUsed", tokens.mfa, tokens.perm_create_domain as "permCreateDomain",
    tokens.perm_delete_domain as "permDeleteDomain", tokens.perm_manage_tokens as "permManageTokens",
    exists (select from policies where token_id = tokens.id and domain_id is not null) as "namesDomain"
  from tokens
  join accounts owner on owner.id = tokens.owner_id
  left join accounts bound on bound.id = tokens.user_override_id`

/** The tokens that an account owns, and those that are bound to it, oldest first. */
export async function tokens(db: Db, accountId: string): Promise<Token[]> {
  return query(
    db,
    `${TOKEN} where tokens.owner_id = :accountId or tokens.user_override_id = :accountId
     order by tokens.created, tokens.id`,
    { accountId },
  )
}

export async function token(db: Db, id: string): Promise<Token | undefined> {
  const [row] = await query<Token>(db, `${TOKEN} where tokens.id = :id`, { id })
  return row
}

/** The token, locked until the transaction ends, so that its policies cannot change either. */
export async function lockToken(trx: Db, id: string): Promise<Token | undefined> {
  await query(trx, 'select from tokens where id = :id for update', { id })
  return token(trx, id)
}

export async function bindToken(trx: Db, id: string, accountId: string): Promise<void> {
  await query(trx, 'update tokens set user_override_id = :accountId where id = :id', { id, accountId })
}

export async function removeToken(db: Db, id: string): Promise<boolean> {
  return (await query(db, 'delete from tokens where id = :id returning id', { id })).length > 0
}

export interface Domain {
  name: string
  /** The e-mail address of its account. */
  owner: string
  created: Timestamp
  minimumTtl: number
}

/** The domains of an account, or of all; by name. */
export async function domains(db: Db, accountId: string | null): Promise<Domain[]> {
  return query(
    db,
    `select domains.name, accounts.email as owner, domains.created, domains.minimum_ttl as "minimumTtl"
     from domains join accounts on accounts.id = domains.owner_id
     where cast(:accountId as uuid) is null or domains.owner_id = :accountId order by domains.name`,
    { accountId },
  )
}

/** Sets the minimum TTL of a domain; false if there is no such domain. */
export async function setMinimumTtl(db: Db, name: string, seconds: number): Promise<boolean> {
  const sql = 'update domains set minimum_ttl = :seconds where name = :name returning id'
  return (await query(db, sql, { name, seconds })).length > 0
}
