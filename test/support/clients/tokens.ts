import { randomBytes, randomUUID } from 'node:crypto'
import { codeAt, stepAt } from '../../../src/service/accounts/totp-codes.ts'
import { decrypt, encrypt } from '../../../src/service/secrets/encryption.ts'
import { hashSecret } from '../../../src/service/tokens/authentication.ts'
import { generateSecret } from '../../../src/service/tokens/secrets.ts'
import { query } from '../../../src/store/database.ts'
import type { TestService } from '../harness.ts'
import type { LocalService } from '../servers/service.ts'
import { Client } from './client.ts'

/** Columns of a token in Postgres' notation. */
export interface TokenOptions {
  name?: string
  secret?: string
  created?: string
  lastUsed?: string | null
  /** The id of the account that the token is bound to. */
  userOverrideId?: string | null
  mfa?: boolean | null
  maxAge?: string | null
  maxUnusedPeriod?: string | null
  allowedSubnets?: string[]
  permCreateDomain?: boolean
  permDeleteDomain?: boolean
  permManageTokens?: boolean
  /** The membership whose rights it has. */
  memberId?: string | null
}

export interface Token {
  id: string
  secret: string
  api: Client
}

/** Adds a token to an account. */
export async function addToken(
  service: Pick<TestService, 'system' | 'url'>,
  ownerId: string,
  options: TokenOptions = {},
): Promise<Token> {
  const secret = options.secret ?? generateSecret()
  const columns = {
    name: '',
    created: service.system.now(),
    lastUsed: null,
    userOverrideId: null,
    mfa: null,
    maxAge: null,
    maxUnusedPeriod: null,
    allowedSubnets: ['0.0.0.0/0', '::/0'],
    permCreateDomain: false,
    permDeleteDomain: false,
    permManageTokens: false,
    memberId: null,
    ...options,
  }
  const [token] = await query<{ id: string }>(
    service.system.db,
    `insert into tokens (name, created, last_used, secret_hash, owner_id, user_override_id, mfa, max_age, max_unused_period,
       perm_create_domain, perm_delete_domain, perm_manage_tokens, allowed_subnets, member_id)
     values (:name, :created, :lastUsed, :hash, :ownerId, :userOverrideId, :mfa, cast(:maxAge as interval),
       cast(:maxUnusedPeriod as interval), :permCreateDomain, :permDeleteDomain, :permManageTokens,
       cast(:allowedSubnets as cidr[]), :memberId) returning id`,
    { ...columns, ownerId, hash: hashSecret(secret) },
  )
  return { id: token!.id, secret, api: new Client(service.url, secret) }
}

/** A policy of a token; an absent member matches everything. */
export interface PolicyRow {
  domain?: string
  subname?: string
  pattern?: string
  type?: string
  write: boolean
}

/** Gives a token policies, in this order; the first one has to be the default. */
export async function addPolicies(
  { system }: Pick<TestService, 'system'>,
  tokenId: string,
  ...rows: PolicyRow[]
): Promise<void> {
  for (const { domain = null, pattern, subname = pattern ?? null, type = null, write } of rows) {
    await query(
      system.db,
      `insert into policies (created, token_id, domain_id, subname, is_pattern, type, perm_write)
       values (:now, :tokenId, (select id from domains where name = :domain), :subname, :isPattern, :type, :write)`,
      { now: system.now(), tokenId, domain, subname, isPattern: pattern !== undefined, type, write },
    )
  }
}

/** When the token was last used, as the API writes times. */
export async function lastUsed(service: TestService, tokenId: string): Promise<string | null> {
  const [token] = await query<{ at: string | null }>(
    service.system.db,
    'select last_used as at from tokens where id = :tokenId',
    { tokenId },
  )
  return token!.at
}

export async function setState(service: TestService, accountId: string, state: string): Promise<void> {
  await query(service.system.db, 'update accounts set state = :state where id = :accountId', { accountId, state })
}

/** A new TOTP factor of an account, used before or not; resolves with its id. */
export async function addFactor(
  service: Pick<TestService, 'system'>,
  accountId: string,
  { used = true } = {},
): Promise<string> {
  const now = service.system.now()
  const id = randomUUID()
  const secret = encrypt(service.system, randomBytes(32), { table: 'totp_factors', owner: id })
  await query(
    service.system.db,
    `insert into totp_factors (id, account_id, created, last_used, name, secret)
     values (:id, :accountId, :now, :lastUsed, :name, :secret)`,
    { id, accountId, now, lastUsed: used ? now : null, name: randomBytes(6).toString('hex'), secret },
  )
  return id
}

/** A new passkey of an account, whose key nobody has; resolves with its id. */
export async function addPasskey({ system }: Pick<TestService, 'system'>, accountId: string): Promise<string> {
  const [passkey] = await query<{ id: string }>(
    system.db,
    `insert into passkeys (account_id, created, name, credential_id, public_key, sign_count, backed_up, transports)
     values (:accountId, :now, :name, :octets, :octets, 0, false, '{}') returning id`,
    { accountId, now: system.now(), name: randomBytes(6).toString('hex'), octets: randomBytes(16) },
  )
  return passkey!.id
}

/** Stops the clocks of services, so that no TOTP time step ends between a code and its use. */
export function stopClocks(...services: Pick<LocalService, 'system'>[]): void {
  const now = services[0]!.system.now()
  for (const { system } of services) system.now = () => now
}

/** A code of a factor. @param offset in time steps from the current one */
export async function codeFor({ system }: TestService, id: string, offset = 0): Promise<string> {
  const [factor] = await query<{ secret: Buffer }>(system.db, 'select secret from totp_factors where id = :id', { id })
  return codeAt(decrypt(system, { table: 'totp_factors', owner: id, ...factor! }), stepAt(system.now()) + offset)
}

/** A code that a factor accepts neither now nor in the next time step. */
export async function wrongCode(service: TestService, id: string): Promise<string> {
  const right = await Promise.all([-1, 0, 1, 2].map((offset) => codeFor(service, id, offset)))
  return ['000000', '111111', '222222', '333333', '444444'].find((code) => !right.includes(code))!
}

/** Lets the codes of a factor that were accepted be accepted again. */
export async function forgetCodes({ system }: TestService, id: string): Promise<void> {
  await query(system.db, 'update totp_factors set last_step = null where id = :id', { id })
}
