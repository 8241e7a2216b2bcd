import { Denied, limitExceeded, orNotFound } from '../../errors.ts'
import { CHALLENGE_VALIDITY, FACTORS_MAX } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Credential, Passkey } from '../../store/accounts/passkeys.ts'
import * as store from '../../store/accounts/passkeys.ts'
import * as factors from '../../store/accounts/second-factors.ts'
import { confirmPrimary, type Db } from '../../store/database.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import type { Actor, Visit } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import { notify } from '../mails/notices.ts'
import type { Cursor, Page } from '../pagination.ts'
import { printHandle, provePasskey, tellingOfCopies } from '../passkeys/passkey-proof.ts'
import {
  ALGORITHMS,
  type Assertion,
  type Attestation,
  challenge,
  examineCreation,
  type Site,
} from '../passkeys/webauthn.ts'
import { networkOf } from '../throttling/callers.ts'
import { withRights } from '../tokens/rights.ts'
import * as confirmations from './confirmations.ts'
import { isNewLogin, refuseUnlessNewLogin } from './second-factor.ts'

export type { Passkey }

/** Returns a page of the account's passkeys, newest first. */
export async function list({ system, actor }: Visit, cursor?: Cursor): Promise<Page<Passkey>> {
  return store.page(system.db, actor.accountId, cursor)
}

export async function count({ system, actor }: Visit): Promise<number> {
  return store.count(system.db, actor.accountId)
}

/** @throws NotFound */
export async function get({ system, actor }: Visit, id: string): Promise<Passkey> {
  return orNotFound(isUuid(id) ? await store.find(system.db, actor.accountId, id) : undefined)
}

/**
 * Returns what a browser is asked for a new passkey (PublicKeyCredentialCreationOptionsJSON), with a challenge for this
 * token.
 * @throws Denied as `create`
 */
export async function creationOptions(visit: Visit, site: Site) {
  const { system, actor } = visit
  return withRights(visit, 'factors', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, actor.accountId))
    await refuseCreation(system, trx, account, actor)
    return {
      challenge: await challenge(system, trx, { use: 'creation', accountId: account.id, tokenId: actor.tokenId }),
      rp: { id: site.id, name: site.id },
      user: { id: printHandle(account.userHandle), name: account.email, displayName: account.email },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: 1000 * CHALLENGE_VALIDITY,
      excludeCredentials: described(await store.credentials(trx, account.id)),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    }
  })
}

/**
 * Returns what a browser is asked for a signature (PublicKeyCredentialRequestOptionsJSON), with a challenge.
 * @param actor a login token, whose account must sign; undefined: whoever signs is signed in
 */
export async function requestOptions({ system, actor }: Visit<Actor | undefined>, site: Site) {
  const { accountId, tokenId } = actor ?? { accountId: null, tokenId: null }
  return {
    challenge: await challenge(system, system.db, { use: 'signature', accountId, tokenId }),
    rpId: site.id,
    timeout: 1000 * CHALLENGE_VALIDITY,
    allowCredentials: actor === undefined ? [] : described(await store.credentials(system.db, actor.accountId)),
    userVerification: 'required',
  }
}

function described(credentials: Credential[]) {
  return credentials.map(({ credentialId, transports }) => {
    return { type: 'public-key', id: credentialId.toString('base64url'), transports }
  })
}

/** Returns whether a challenge was made for this token. */
function isOf(actor: Actor) {
  return (purpose: { accountId: string | null; tokenId: string | null }) =>
    purpose.accountId === actor.accountId && purpose.tokenId === actor.tokenId
}

/**
 * Adds a passkey if MFA is enabled, which needs a new login. If not, it mails a link that adds it, because a stolen
 * password must not suffice.
 * @param base the URL of the API
 * @returns undefined if a mail was sent
 * @throws Invalid, Denied
 */
export async function create(
  visit: Visit,
  { name = '', passkey }: { name?: string; passkey: Attestation },
  site: Site,
  base: string,
): Promise<Passkey | undefined> {
  const { system, actor } = visit
  return withRights(visit, 'factors', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, actor.accountId))
    const isMfaEnabled = await refuseCreation(system, trx, account, actor)
    const credential = await examineCreation(system, trx, passkey, site, isOf(actor))
    if (isMfaEnabled) return insert(system, trx, account, { name, by: actor.tokenId }, credential)
    const { credentialId, publicKey, ...rest } = credential
    await store.refuseTaken(trx, { accountId: account.id, name, credentialId })
    const octets = { credentialId: credentialId.toString('base64url'), publicKey: publicKey.toString('base64url') }
    // A name may have line breaks.
    const note = `The passkey is called ${JSON.stringify(name)}.`
    await confirmations.request(system, trx, account, 'create-passkey', { name, ...octets, ...rest }, { base, note })
    return undefined
  })
}

/** Adds the passkey of a confirmation link. @throws Invalid, Denied, Conflict (contract §11.3) */
export async function createConfirmed(system: System, code: string): Promise<void> {
  await confirmations.redeem(system, 'create-passkey', code, async (trx, owner, { name, ...stored }) => {
    const [credentialId, publicKey] = [stored.credentialId, stored.publicKey].map((text) =>
      Buffer.from(text, 'base64url'),
    )
    const credential = { ...stored, credentialId: credentialId!, publicKey: publicKey! }
    await insert(system, trx, owner, { name, by: 'link' }, credential)
  })
}

/**
 * Returns whether MFA is enabled for the account, which is locked.
 * @throws Denied if it has FACTORS_MAX passkeys, or a factor, and the login is too old to add one
 */
async function refuseCreation(system: System, trx: Db, { id }: Account, actor: Actor): Promise<boolean> {
  await refuseBeyondLimit(trx, id)
  const isMfaEnabled = (await factors.count(trx, id)) > 0
  if (isMfaEnabled && !(await isNewLogin(system, trx, actor))) {
    throw new Denied('Sign in again: a passkey can be added only within ten minutes of a login.')
  }
  return isMfaEnabled
}

async function refuseBeyondLimit(trx: Db, accountId: string): Promise<void> {
  if ((await store.count(trx, accountId)) >= FACTORS_MAX) throw limitExceeded('an account', FACTORS_MAX, 'passkeys')
}

async function insert(
  system: System,
  trx: Db,
  account: Account,
  { name, by }: { name: string; by: string },
  credential: Credential,
): Promise<Passkey> {
  await refuseBeyondLimit(trx, account.id)
  const now = system.now()
  const made = await store.insert(trx, { ...credential, accountId: account.id, name, now })
  await accounts.changeCredentials(trx, account.id, {}, now)
  await notify(system, trx, account, 'passkey-added', JSON.stringify(name))
  record(system, trx, 'factor_created', { account: account.id, factor: made.id, by })
  return made
}

/**
 * Changes the name if the input has one.
 * @param input called once the passkey has been found
 * @throws NotFound, Invalid
 */
export async function change(visit: Visit, id: string, input: () => { name?: string }): Promise<Passkey> {
  const passkey = await get(visit, id)
  const { name } = input()
  if (name === undefined) return passkey
  return withRights(visit, 'factors', [], async (trx) =>
    orNotFound(await store.rename(trx, visit.actor.accountId, id, name)),
  )
}

/** Deletes a passkey, if it exists, and voids all earlier confirmation links. @throws Denied as `refuseUnlessNewLogin` */
export async function remove(visit: Visit, id: string): Promise<void> {
  if (!isUuid(id)) return
  const { system, actor } = visit
  const existed = await withRights(visit, 'factors', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, actor.accountId))
    const passkey = await store.find(trx, account.id, id)
    if (passkey === undefined) return false
    await store.remove(trx, account.id, id)
    await refuseUnlessNewLogin(system, trx, actor)
    await accounts.changeCredentials(trx, account.id, {}, system.now())
    await notify(system, trx, account, 'passkey-removed', JSON.stringify(passkey.name))
    record(system, trx, 'factor_deleted', { account: account.id, factor: id, by: actor.tokenId })
    return true
  })
  if (!existed) await confirmPrimary(system.db)
}

/** Completes the MFA step of the actor's login token by the signature of a passkey. @throws Invalid */
export async function verify(visit: Visit, passkey: Assertion, site: Site): Promise<void> {
  const { system, actor } = visit
  const { accountId, tokenId } = actor
  const use = { site, isFor: isOf(actor), failure: 'code_failed', by: tokenId } as const
  await tellingOfCopies(system, () =>
    withRights(visit, 'codes', [], async (trx) => {
      const account = orNotFound(await accounts.lock(trx, accountId))
      const factor = await provePasskey(system, trx, account, passkey, use)
      await tokens.passMfa(trx, tokenId)
      await accounts.addKnownNetwork(trx, accountId, networkOf(actor.address), { isProved: true })
      record(system, trx, 'mfa_passed', { account: accountId, factor, by: tokenId })
    }),
  )
}
