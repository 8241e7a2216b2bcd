import { characters } from '../../dns/presentation.ts'
import { Denied, Invalid, limitExceeded, NotFound, orNotFound, type Problems } from '../../errors.ts'
import { TOKEN_NAME_LENGTH, TOKENS_MAX } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import { confirmPrimary, type Db, transaction } from '../../store/database.ts'
import * as policies from '../../store/tokens/policies.ts'
import * as sessions from '../../store/tokens/sign-on-sessions.ts'
import type { Token, TokenSettings } from '../../store/tokens/tokens.ts'
import * as store from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import { type Actor, hasToken, type Visit, type Writer } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import { notify } from '../mails/notices.ts'
import type { Cursor, Page } from '../pagination.ts'
import { hashSecret } from './authentication.ts'
import { type Holder, OWN_LOGIN, reserve, withRights } from './rights.ts'
import { generateSecret } from './secrets.ts'

export type { Token, TokenSettings }

/** The token in a request. */
export interface TokenInput {
  settings: Partial<TokenSettings>
  problems: Problems
}

/** The default settings of a new token (contract §5.1). */
const DEFAULTS: TokenSettings = {
  name: '',
  maxAge: null,
  maxUnusedPeriod: null,
  permCreateDomain: false,
  permDeleteDomain: false,
  permManageTokens: false,
  allowedSubnets: ['0.0.0.0/0', '::/0'],
  autoPolicy: false,
  messageRequired: false,
}

/** Returns a page of the tokens that the account owns or that are bound to it, newest first. */
export async function list({ system, actor }: Visit, cursor?: Cursor): Promise<Page<Token>> {
  return store.page(system.db, actor.accountId, system.now(), cursor)
}

/** Counts the tokens of `list`. */
export async function count({ system, actor }: Visit): Promise<number> {
  return store.count(system.db, actor.accountId)
}

/** Returns a token of the account, owned by it or bound to it. @throws NotFound */
export async function get({ system, actor }: Visit, id: string): Promise<Token> {
  return orNotFound(isUuid(id) ? await store.find(system.db, id, system.now(), actor.accountId) : undefined)
}

/** A new token and its secret, which only the creation of the token returns. */
export interface NewToken {
  token: Token
  secret: string
}

/** Creates a token that the account owns. @throws Invalid; Denied if it has TOKENS_MAX */
export async function create(visit: Visit<Writer>, { settings, problems }: TokenInput): Promise<NewToken> {
  const { system, actor } = visit
  const { accountId, tokenId: by } = actor
  return withRights(visit, 'tokens', [], async (trx) => {
    const madeBy = hasToken(actor) ? actor.memberId : null
    const made = await add(system, trx, accountId, settings, { problems, madeBy })
    if (made.token.permManageTokens) await notifyOfManagement(system, trx, accountId, made.token)
    record(system, trx, 'token_created', { account: accountId, token: made.token.id, by })
    return made
  })
}

/**
 * Creates a token in the caller's transaction, without a notice.
 * @param mfa null: an API token; otherwise a login
 * @param memberId the membership whose rights a login gets
 * @param madeBy the membership with which an API token ends
 */
export async function add(
  system: System,
  trx: Db,
  accountId: string,
  settings: Partial<TokenSettings>,
  {
    problems = {},
    mfa = null,
    secret = generateSecret(),
    memberId = null,
    madeBy = null,
  }: { problems?: Problems; mfa?: boolean | null; secret?: string } & Partial<store.Dependence> = {},
): Promise<NewToken> {
  refuseProblems(settings, problems)
  await store.lockCreation(trx, accountId)
  const present = await store.countOwned(trx, accountId, mfa)
  if (present >= TOKENS_MAX) throw limitExceeded('an account', TOKENS_MAX, mfa === null ? 'tokens' : 'login tokens')
  const now = system.now()
  const owned = { ownerId: accountId, mfa, memberId, madeBy, secretHash: hashSecret(secret) }
  const { id } = await store.insert(trx, { ...owned, ...DEFAULTS, ...settings }, now)
  if (settings.autoPolicy === true) await policies.restrict(trx, id, now)
  return { token: (await store.find(trx, id, now, accountId))!, secret }
}

/**
 * Changes the settings that the input has.
 * @param input called only if the actor may change the token (contract §1.2)
 * @throws NotFound, Denied, Invalid
 */
export async function change(visit: Visit, id: string, input: () => TokenInput): Promise<Token> {
  const { system, actor } = visit
  return withToken(visit, id, async (trx, token) => {
    const { settings, problems } = input()
    refuseProblems(settings, problems)
    if (settings.maxAge !== undefined && token.mfa !== null && (await sessions.exists(trx, id))) {
      throw Invalid.field('max_age', 'Single sign-on decides how long this login lasts.')
    }
    if (settings.permManageTokens === true && token.userOverrideId !== null) {
      throw Invalid.object('perm_manage_tokens and user_override are mutually exclusive.')
    }
    const now = system.now()
    if (settings.autoPolicy === true && (await policies.list(trx, id)).length === 0) {
      await policies.restrict(trx, id, now)
    }
    await store.update(trx, id, { ...token, ...settings })
    const changed = (await store.find(trx, id, now, actor.accountId))!
    if (changed.permManageTokens && !token.permManageTokens)
      await notifyOfManagement(system, trx, actor.accountId, changed)
    record(system, trx, 'token_changed', { account: actor.accountId, token: id, by: actor.tokenId })
    return changed
  })
}

async function notifyOfManagement(system: System, trx: Db, id: string, { owner, name }: Token): Promise<void> {
  // A name may have line breaks, as another person may have chosen it.
  await notify(system, trx, { id, email: owner }, 'managing-token', JSON.stringify(name))
}

/** Deletes a token of the account, if it exists. It can be the token that the request presented. */
export async function remove(visit: Visit, id: string): Promise<void> {
  if (!isUuid(id)) return
  const { system, actor } = visit
  const { accountId, tokenId: by } = actor
  const changed = await holder(visit, id)
  const existed = await withRights(visit, 'tokens', changed, async (trx) => {
    refuseLoginsOfOthers(actor, await store.find(trx, id, system.now(), accountId))
    if (!(await store.removeFrom(trx, id, accountId))) return false
    record(system, trx, 'token_deleted', { account: accountId, token: id, by })
    return true
  })
  if (!existed) await confirmPrimary(system.db)
}

/**
 * Runs `work` in a transaction that reserves the rights of a token and its policies, if the actor may change them.
 * @throws NotFound; Denied if the token acts for another account (contract §3.3)
 */
export async function withToken<T>(visit: Visit, id: string, work: (trx: Db, token: Token) => Promise<T>): Promise<T> {
  if (!isUuid(id)) throw new NotFound()
  const { system, actor } = visit
  return withRights(visit, 'tokens', await holder(visit, id), async (trx) => {
    const token = orNotFound(await store.find(trx, id, system.now(), actor.accountId))
    if ((token.userOverrideId ?? actor.accountId) !== actor.accountId) throw new Denied()
    refuseLoginsOfOthers(actor, token)
    return work(trx, token)
  })
}

/** Members leave the account its logins: else they could lock out whoever removes them (contract §19.2). @throws Denied */
function refuseLoginsOfOthers({ memberId }: Actor, token: Token | undefined): void {
  if (memberId !== null && token !== undefined && token.mfa !== null) throw new Denied(OWN_LOGIN)
}

/** Returns the token as a holder of rights; none if it is not the account's: callers must not block foreign tokens. */
async function holder({ system, actor }: Visit, id: string): Promise<Holder[]> {
  return (await store.find(system.db, id, system.now(), actor.accountId)) === undefined ? [] : [`token ${id}`]
}

function refuseProblems({ name }: Partial<TokenSettings>, problems: Problems): void {
  const tooLong = name !== undefined && characters(name) > TOKEN_NAME_LENGTH
  const length = tooLong && { name: [`Ensure this field has no more than ${TOKEN_NAME_LENGTH} characters.`] }
  if (tooLong || Object.keys(problems).length > 0) throw new Invalid({ ...problems, ...length })
}

// Operations of the operator, on any token (contract §15.2).

/** Returns all tokens that an account owns or that are bound to it, oldest first. */
export async function listAll(system: System, accountId: string): Promise<Token[]> {
  return store.all(system.db, accountId, system.now())
}

/** Reports whether a token has this secret. */
export async function isKnown(db: Db, secret: string): Promise<boolean> {
  return store.isKnown(db, hashSecret(secret))
}

/** Deletes any account's token. @throws NotFound */
export async function revoke(system: System, id: string): Promise<void> {
  if (!isUuid(id)) throw noToken(id)
  await transaction(system.db, async (trx) => {
    await reserve(trx, `token ${id}`)
    const account = await store.remove(trx, id)
    if (account === undefined) throw noToken(id)
    record(system, trx, 'token_deleted', { account, token: id })
  })
}

/**
 * Permanently binds a token to an account that does not own it (contract §3.3).
 * @throws NotFound; Invalid with all rules that the binding violates
 */
export async function bind(system: System, id: string, bound: Account): Promise<Token> {
  if (!isUuid(id)) throw noToken(id)
  return transaction(system.db, async (trx) => {
    await reserve(trx, `token ${id}`)
    const token = await store.find(trx, id, system.now(), undefined)
    if (token === undefined) throw noToken(id)
    const namesDomain = (await policies.list(trx, id)).some(({ domainId }) => domainId !== null)
    const problems = [
      ...(token.userOverride === null ? [] : [`The token is already bound to ${token.userOverride}, permanently.`]),
      ...(token.owner === bound.email ? ['A token cannot be bound to its owner.'] : []),
      ...(token.mfa === null ? [] : ['A login token cannot be bound.']),
      ...(token.permManageTokens ? ['perm_manage_tokens and user_override are mutually exclusive.'] : []),
      ...(namesDomain ? ['A token whose policies name domains cannot be bound.'] : []),
    ]
    if (problems.length > 0) throw new Invalid({ non_field_errors: problems })
    await store.bind(trx, id, bound.id)
    record(system, trx, 'token_bound', { account: bound.id, token: id })
    return (await store.find(trx, id, system.now(), undefined))!
  })
}

function noToken(id: string): NotFound {
  return new NotFound(`Token ${id} does not exist.`)
}
