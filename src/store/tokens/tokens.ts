import type { Pool } from 'pg'
import type { Duration, Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query, removal } from '../database.ts'
import { type Cursor, type Page, pageOf } from '../pagination.ts'

/** A policy of a token; null matches everything (contract §6). */
export interface Policy {
  domainId: number | null
  subname: string | null
  /** True if `subname` is a pattern (contract §6.1). */
  isPattern: boolean
  type: string | null
  permWrite: boolean
}

/** The members of a token that can be changed (contract §5.1). */
export interface TokenSettings {
  name: string
  maxAge: Duration | null
  maxUnusedPeriod: Duration | null
  permCreateDomain: boolean
  permDeleteDomain: boolean
  permManageTokens: boolean
  /** The networks, in CIDR notation. */
  allowedSubnets: string[]
  autoPolicy: boolean
  /** True if its writes need a message (contract §15.14). */
  messageRequired: boolean
}

export interface Token extends TokenSettings {
  id: string
  created: Timestamp
  lastUsed: Timestamp | null
  /** The owner's e-mail address. */
  owner: string
  /** The account for which it acts, if not its owner: it is bound to it, or is a member's login. */
  userOverrideId: string | null
  /** The e-mail address of that account. */
  userOverride: string | null
  mfa: boolean | null
  /** The address of who made it as a member of the account; null: nobody did. */
  maker: string | null
  /** True if it is neither too old nor unused for too long (contract §5.5). */
  valid: boolean
  /** True if it has a TSIG key (contract §21.2). */
  tsig: boolean
}

/** The SQL condition for a token that is valid at `:now`. */
export const VALID = `(coalesce(tokens.created + tokens.max_age >= :now, true)
  and coalesce(greatest(tokens.created, tokens.last_used) + tokens.max_unused_period >= :now, true))`

/** The account for which a token acts, if not its owner. */
const OVERRIDE = `coalesce(tokens.user_override_id, (select account_id from members where members.id = tokens.member_id))`

const COLUMNS = `tokens.id, tokens.created, tokens.last_used as "lastUsed", ${OVERRIDE} as "userOverrideId",
  tokens.mfa, tokens.maker, tokens.max_age as "maxAge", tokens.max_unused_period as "maxUnusedPeriod", tokens.name,
  tokens.perm_create_domain as "permCreateDomain", tokens.perm_delete_domain as "permDeleteDomain",
  tokens.perm_manage_tokens as "permManageTokens", tokens.auto_policy as "autoPolicy",
  tokens.message_required as "messageRequired",
  cast(tokens.allowed_subnets as text[]) as "allowedSubnets", ${VALID} as valid,
  exists (select from tsig_keys where token_id = tokens.id) as tsig,
  (select email from accounts where accounts.id = tokens.owner_id) as owner,
  (select email from accounts where accounts.id = ${OVERRIDE}) as "userOverride"`

export async function isKnown(db: Db, secretHash: Buffer): Promise<boolean> {
  return (await query(db, 'select from tokens where secret_hash = :secretHash', { secretHash })).length > 0
}

/** Creates a token with this hash and all permissions, unless it exists. */
export async function ensure(
  db: Db,
  token: { ownerId: string; secretHash: Buffer; name: string; now: Timestamp },
): Promise<void> {
  await query(
    db,
    `insert into tokens
       (created, owner_id, secret_hash, name, perm_create_domain, perm_delete_domain, perm_manage_tokens)
     values (:now, :ownerId, :secretHash, :name, true, true, true)
     on conflict (secret_hash) do nothing`,
    token,
  )
}

/** Returns when the person of a login signed in: that of a member may have been opened later. */
export async function signedIn(db: Db, id: string): Promise<Timestamp | undefined> {
  const sql = 'select coalesce(signed_in, created) as at from tokens where id = :id'
  return (await maybeOne<{ at: Timestamp }>(db, sql, { id }))?.at
}

/** Stores that a login token has passed MFA. */
export async function passMfa(trx: Db, id: string): Promise<void> {
  await query(trx, 'update tokens set mfa = true where id = :id and mfa is not null', { id })
}

/** Deletes the account's own login tokens, or all of its own tokens. Returns their ids. */
export async function removeOwned(trx: Db, ownerId: string, which: 'logins' | 'all'): Promise<string[]> {
  const sql = 'delete from tokens where owner_id = :ownerId and (mfa is not null or :all) returning id'
  const deleted = await query<{ id: string }>(trx, sql, { ownerId, all: which === 'all' })
  return deleted.map(({ id }) => id)
}

/** Returns at most `limit` of the account's own API tokens, newest first. */
export async function apiTokens(db: Db, ownerId: string, limit: number, now: Timestamp): Promise<Token[]> {
  const sql = `select ${COLUMNS} from tokens where owner_id = :ownerId and mfa is null order by created desc limit :limit`
  return query(db, sql, { ownerId, limit, now })
}

/** Deletes the account's login tokens that are no longer valid (contract §5.5), unless they are locked. */
export async function removeExpiredLogins(trx: Db, ownerId: string, now: Timestamp): Promise<void> {
  const isExpired = `owner_id = :ownerId and mfa is not null and not ${VALID}`
  await query(trx, removal('tokens', 'id', isExpired), { ownerId, now })
}

/** Deletes a token, and returns its owner's id; undefined if it does not exist. */
export async function remove(db: Db, id: string): Promise<string | undefined> {
  const sql = 'delete from tokens where id = :id returning owner_id as "ownerId"'
  return (await maybeOne<{ ownerId: string }>(db, sql, { id }))?.ownerId
}

/** Returns the tokens that an account owns or that are bound to it, oldest first. */
export async function all(db: Db, accountId: string, now: Timestamp): Promise<Token[]> {
  return query(
    db,
    `select ${COLUMNS} from tokens where owner_id = :accountId or user_override_id = :accountId
     order by created, id`,
    { accountId, now },
  )
}

/** Returns a page of the tokens that an account owns or that are bound to it, newest first. */
export async function page(pool: Pool, accountId: string, now: Timestamp, cursor?: Cursor): Promise<Page<Token>> {
  const conditions = ['owner_id = :accountId', 'user_override_id = :accountId']
  const octets = 'pg_column_size("allowedSubnets")'
  const list = { table: 'tokens', columns: COLUMNS, octets, conditions, bindings: { accountId, now } }
  return pageOf<Token>(pool, list, cursor)
}

/** Counts the tokens that the account owns or that are bound to it. */
export async function count(db: Db, accountId: string): Promise<number> {
  const { n } = await one<{ n: number }>(
    db,
    `select (select count(*) from tokens where owner_id = :accountId)
       + (select count(*) from tokens where user_override_id = :accountId) as n`,
    { accountId },
  )
  return n
}

/** Returns the token, if this account owns it or it is bound to the account. @param accountId undefined: any account */
export async function find(
  db: Db,
  id: string,
  now: Timestamp,
  accountId: string | undefined,
): Promise<Token | undefined> {
  const own = accountId === undefined ? '' : 'and :accountId in (owner_id, user_override_id)'
  return maybeOne(db, `select ${COLUMNS} from tokens where id = :id ${own}`, { id, accountId, now })
}

/** Binds a token to an account. */
export async function bind(trx: Db, id: string, accountId: string): Promise<void> {
  await query(trx, 'update tokens set user_override_id = :accountId where id = :id', { id, accountId })
}

/** Serializes the creation of the account's tokens until the transaction ends; locks nothing else. */
export async function lockCreation(trx: Db, ownerId: string): Promise<void> {
  await query(trx, 'select pg_advisory_xact_lock(hashtextextended(:ownerId, 2))', { ownerId })
}

/** Counts the tokens that the account owns: API tokens (null), or logins that have passed a second factor, or none. */
export async function countOwned(db: Db, ownerId: string, mfa: boolean | null): Promise<number> {
  const sql = `select count(*) as n from tokens where owner_id = :ownerId and mfa is not distinct from :mfa`
  return (await one<{ n: number }>(db, sql, { ownerId, mfa })).n
}

/** Deletes the account's oldest logins before their second factor, unless they are locked, but for the latest `kept`. */
export async function removeHalfOpen(trx: Db, ownerId: string, kept: number): Promise<void> {
  const isOld = 'owner_id = :ownerId and not mfa order by created desc offset :kept'
  await query(trx, removal('tokens', 'id', isOld), { ownerId, kept })
}

/** On whose membership a new token depends. */
export interface Dependence {
  /** The membership whose rights a login has; null: it acts for its owner. */
  memberId: string | null
  /** The membership through which an API token is made, if any. */
  madeBy: string | null
}

export async function insert(
  db: Db,
  token: TokenSettings & Dependence & { ownerId: string; mfa: boolean | null; secretHash: Buffer },
  now: Timestamp,
): Promise<{ id: string }> {
  return one(
    db,
    `insert into tokens (created, owner_id, secret_hash, mfa, name, max_age, max_unused_period,
       perm_create_domain, perm_delete_domain, perm_manage_tokens, allowed_subnets, auto_policy, message_required,
       member_id, made_by, maker)
     values (:now, :ownerId, :secretHash, :mfa, :name, cast(:maxAge as interval), cast(:maxUnusedPeriod as interval),
       :permCreateDomain, :permDeleteDomain, :permManageTokens, :allowedSubnets, :autoPolicy, :messageRequired, :memberId, :madeBy,
       (select accounts.email from members join accounts on accounts.id = person_id where members.id = :madeBy))
     returning id`,
    { ...token, now },
  )
}

export async function update(db: Db, id: string, token: TokenSettings): Promise<void> {
  await query(
    db,
    `update tokens set name = :name, max_age = cast(:maxAge as interval),
       max_unused_period = cast(:maxUnusedPeriod as interval), perm_create_domain = :permCreateDomain,
       perm_delete_domain = :permDeleteDomain, perm_manage_tokens = :permManageTokens,
       allowed_subnets = :allowedSubnets, auto_policy = :autoPolicy, message_required = :messageRequired
     where id = :id`,
    { ...token, id },
  )
}

/** Deletes the token, if the account owns it or it is bound to the account. Returns true if it did. */
export async function removeFrom(db: Db, id: string, accountId: string): Promise<boolean> {
  const sql = 'delete from tokens where id = :id and :accountId in (owner_id, user_override_id) returning id'
  return (await query(db, sql, { id, accountId })).length > 0
}
