import { randomBytes, randomUUID } from 'node:crypto'
import { limitExceeded, NotFound, orNotFound, Unauthenticated } from '../../errors.ts'
import { FACTORS_MAX, TOTP_SECRET_LENGTH } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import * as factors from '../../store/accounts/second-factors.ts'
import type { Factor } from '../../store/accounts/totp-factors.ts'
import * as store from '../../store/accounts/totp-factors.ts'
import { confirmPrimary, type Db } from '../../store/database.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import { type Actor, unrestricted, type Visit } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import { notify } from '../mails/notices.ts'
import type { Cursor, Page } from '../pagination.ts'
import { encrypt } from '../secrets/encryption.ts'
import { networkOf } from '../throttling/callers.ts'
import { type Holder, withRights } from '../tokens/rights.ts'
import * as confirmations from './confirmations.ts'
import { matchCode, refuseUnlessNewLogin, wrongCode } from './second-factor.ts'

export type { Factor }

/** A new factor: only its creation returns the secret. */
export type NewFactor = Factor & { secret: Buffer; email: string }

/** Returns a page of the account's factors, newest first. */
export async function list({ system, actor }: Visit, cursor?: Cursor): Promise<Page<Factor>> {
  return store.page(system.db, actor.accountId, cursor)
}

export async function count({ system, actor }: Visit): Promise<number> {
  return store.count(system.db, actor.accountId)
}

/** @throws NotFound */
export async function get({ system, actor }: Visit, id: string): Promise<Factor> {
  return orNotFound(isUuid(id) ? await store.find(system.db, actor.accountId, id) : undefined)
}

/**
 * Creates a factor if MFA is enabled. If not, it mails a link that creates one, because a stolen password must not
 * suffice to add a factor.
 * @param base the URL of the API
 * @returns undefined if a mail was sent
 * @throws Invalid
 */
export async function create(
  visit: Visit,
  { name = '' }: { name?: string },
  base: string,
): Promise<NewFactor | undefined> {
  const { system, actor } = visit
  return withRights(visit, 'factors', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, actor.accountId))
    const isMfaEnabled = (await factors.count(trx, account.id)) > 0
    if (isMfaEnabled) return insert(system, trx, account, name, actor.tokenId)
    await refuseBeyondLimit(trx, account)
    await store.refuseTakenName(trx, account.id, name)
    await confirmations.request(system, trx, account, 'create-totp', { name }, { base })
    return undefined
  })
}

/** Creates the factor of a confirmation link. @throws Invalid, Denied, Conflict (contract §11.3) */
export async function createConfirmed(system: System, code: string): Promise<NewFactor> {
  return confirmations.redeem(system, 'create-totp', code, (trx, owner, { name }) =>
    insert(system, trx, owner, name, 'link'),
  )
}

/** @throws Denied if the account, which is locked, has FACTORS_MAX */
async function refuseBeyondLimit(trx: Db, { id }: Account): Promise<void> {
  if ((await store.count(trx, id)) >= FACTORS_MAX) throw limitExceeded('an account', FACTORS_MAX, 'TOTP factors')
}

async function insert(system: System, trx: Db, account: Account, name: string, by: string): Promise<NewFactor> {
  await refuseBeyondLimit(trx, account)
  const id = randomUUID()
  const secret = randomBytes(TOTP_SECRET_LENGTH)
  const encrypted = encrypt(system, secret, { table: 'totp_factors', owner: id })
  const stored = { id, accountId: account.id, name, secret: encrypted, now: system.now() }
  const made = await store.insert(trx, stored)
  record(system, trx, 'factor_created', { account: account.id, factor: id, by })
  return { ...made, secret, email: account.email }
}

/**
 * Changes the name if the input has one.
 * @param input called once the factor has been found
 * @throws NotFound, Invalid
 */
export async function change(visit: Visit, id: string, input: () => { name?: string }): Promise<Factor> {
  const factor = await get(visit, id)
  const { name } = input()
  if (name === undefined) return factor
  return withRights(visit, 'factors', [], async (trx) =>
    orNotFound(await store.rename(trx, visit.actor.accountId, id, name)),
  )
}

/**
 * Deletes a factor, if it exists. If it had been used, this voids all earlier confirmation links.
 * @throws Denied as `refuseUnlessNewLogin`
 */
export async function remove(visit: Visit, id: string): Promise<void> {
  if (!isUuid(id)) return
  const { system, actor } = visit
  const wasUsed = await withRights(visit, 'factors', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, actor.accountId))
    if (!(await store.remove(trx, actor.accountId, id))) return false
    await refuseUnlessNewLogin(system, trx, actor)
    await accounts.changeCredentials(trx, actor.accountId, {}, system.now())
    await notify(system, trx, account, 'factor-removed')
    record(system, trx, 'factor_deleted', { account: account.id, factor: id, by: actor.tokenId })
    return true
  })
  if (!wasUsed) await confirmPrimary(system.db)
}

/**
 * Verifies a code of a factor; each code works once. The first code needs no login. It enables the factor and voids all
 * earlier confirmation links. Later codes complete the MFA step of the actor's login token.
 * @param input called once the factor has been found
 * @returns true if it was the factor's first code
 * @throws Unauthenticated, NotFound, Invalid, Throttled
 */
export async function verify(
  { system, actor }: Visit<Actor | undefined>,
  id: string,
  input: () => { code: string },
): Promise<boolean> {
  const factor = isUuid(id) ? await store.findToVerify(system.db, id) : undefined
  // Requests without a token must not learn which factors exist.
  if (actor === undefined && (factor === undefined || factor.isUsed)) throw anonymous()
  const { accountId } = orNotFound(factor)
  if (actor !== undefined && actor.accountId !== accountId) throw new NotFound()
  const { step } = await matchCode(system, accountId, [factor!], input().code)
  const now = system.now()
  // A first code revokes rights of the account's login tokens: they need the MFA step from now on.
  const changed: Holder[] = factor!.isUsed ? [] : [`account ${accountId}`]
  const writer = { system, actor: actor ?? unrestricted(accountId) }
  return withRights(writer, 'codes', changed, async (trx) => {
    // The account is locked first, as in all changes of credentials, to prevent deadlocks.
    const account = await accounts.lock(trx, accountId)
    const isFirst = await store.use(trx, id, step, now)
    if (isFirst === undefined) throw wrongCode()
    if (isFirst) {
      await accounts.changeCredentials(trx, accountId, {}, now)
      await notify(system, trx, account!, 'factor-added')
    } else if (actor === undefined) throw anonymous()
    else {
      await tokens.passMfa(trx, actor.tokenId)
      await accounts.addKnownNetwork(trx, accountId, networkOf(actor.address), { isProved: true })
    }
    record(system, trx, isFirst ? 'factor_activated' : 'mfa_passed', {
      account: accountId,
      factor: id,
      by: actor?.tokenId ?? 'request',
    })
    return isFirst
  })
}

function anonymous(): Unauthenticated {
  return new Unauthenticated('Authentication credentials were not provided.')
}
