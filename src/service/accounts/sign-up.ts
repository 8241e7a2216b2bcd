import { parentAmong } from '../../dns/names.ts'
import { Denied, Invalid } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as store from '../../store/accounts/accounts.ts'
import type { System } from '../../system.ts'
import { unrestricted } from '../actor.ts'
import * as creation from '../domains/creation.ts'
import type { DomainWithKeys } from '../domains/keys.ts'
import { record } from '../events.ts'
import { newcomerProblems } from '../names/availability.ts'
import type { NewToken } from '../tokens/tokens.ts'
import * as tokens from '../tokens/tokens.ts'
import { openPublication, type Publication } from '../zone/publication.ts'
import * as accounts from './accounts.ts'
import { type CaptchaAnswer, refuseUnsolvedCaptcha } from './captchas.ts'
import * as confirmations from './confirmations.ts'
import { inConstantTime } from './constant-time.ts'
import { hashPassword } from './passwords.ts'

/** The queue of sign-ups, which share the connections of one account. */
const SIGN_UP = 'sign-up'

/** The input of a sign-up. */
export interface SignUp {
  email: string
  /** null: the user sets one after the activation. */
  password: string | null
  domain?: string
  /** The captcha, required if captchas are on. */
  captcha?: CaptchaAnswer
  outreachPreference?: boolean
}

/** @throws Denied if registration is closed */
export function refuseIfClosed(system: System): void {
  if (!system.config.registration) throw new Denied('Registration is closed. Please contact the operator.')
}

/**
 * Creates an account. If addresses must be confirmed, it is pending, and the user gets a mail with an activation link;
 * otherwise it is active. A pending account with the address is replaced. If the address is taken, nothing happens, and
 * the caller cannot see the difference.
 * @param base the URL of the API
 * @returns true if the address must be confirmed
 * @throws Invalid, Throttled, Unavailable; NameserverFailure if it creates a domain at once
 */
export async function signUp(system: System, input: SignUp, base: string): Promise<boolean> {
  const { emailConfirmation } = system.config
  const problems = input.domain === undefined ? [] : await newcomerProblems(system, input.domain)
  if (problems.length > 0) throw Invalid.field('domain', ...problems)
  await refuseUnsolvedCaptcha(system, input.captcha)
  const passwordHash = input.password === null ? null : await hashPassword(input.password, undefined)
  await inConstantTime(async () => {
    if (await addAccount(system, input, passwordHash, base)) return
    // The link that the user got before stays valid, but perhaps a stranger has asked for it, with a password of his own.
    await store.forgetPendingPassword(system.db, accounts.canonicalEmail(input.email))
  })
  return emailConfirmation
}

/** Returns false if the user has got too many mails: then it changes nothing. */
async function addAccount(system: System, input: SignUp, passwordHash: string | null, base: string): Promise<boolean> {
  const { email, domain = null, outreachPreference = true } = input
  const { emailConfirmation, confirmationValidity } = system.config
  await using publication = await openPublication(system, SIGN_UP, {
    queues: [`sign-up ${accounts.canonicalEmail(email)}`],
  })
  const { trx } = publication
  await store.removePending(trx, new Date(Date.parse(system.now()) - confirmationValidity * 1000).toISOString())
  const state = emailConfirmation ? 'pending' : 'active'
  const account = await accounts.add(system, trx, email, { passwordHash, state, outreachPreference })
  if (account !== undefined) {
    if (!emailConfirmation) await addDomain(publication, account, domain)
    else {
      if (!(await confirmations.request(system, trx, account, 'activate-account', { domain }, { base }))) return false
    }
  }
  if (account !== undefined) record(system, trx, 'account_created', { account: account.id, by: 'request' })
  await publication.commit()
  return true
}

/** The result of an activation. */
export interface Activation {
  account: Account
  domain: DomainWithKeys | undefined
  /** The token for updates of the domain, if it lies below a local public suffix (contract §7.6). */
  token: NewToken | undefined
}

/**
 * Activates an account and creates the domain that the user asked for at sign-up. If the domain is no longer available,
 * it deletes the account instead, so that the user can sign up again. If the account has no password, the user gets a
 * mail with a link that sets one.
 * @param base the URL of the API
 * @throws Invalid, Denied, Conflict, Unavailable, NameserverFailure
 */
export async function activate(system: System, code: string, base: string): Promise<Activation> {
  try {
    return await activateWithDomain(system, code, base)
  } catch (error) {
    if (!(error instanceof DomainUnavailable)) throw error
    await confirmations.redeem(system, 'activate-account', code, async (trx, account) => {
      await store.remove(trx, account.id)
      record(system, trx, 'account_deleted', { account: account.id, by: 'link' })
    })
    throw Invalid.object(
      `The requested domain ${error.domain} could not be registered (reason: name_unavailable). Please start over and ` +
        'sign up again.',
    )
  }
}

async function activateWithDomain(system: System, code: string, base: string): Promise<Activation> {
  await using publication = await openPublication(system, SIGN_UP, { queues: [confirmations.queueOf(code)] })
  const { trx } = publication
  const { account: pending, parameters } = await confirmations.claim(system, trx, 'activate-account', code)
  const account = await store.changeCredentials(trx, pending.id, { state: 'active' }, system.now())
  if (account.passwordHash === null) {
    // The account has no API tokens except the one that this activation may return.
    await confirmations.request(system, trx, account, 'reset-password', { revokeTokens: false }, { base })
  }
  const domain = await addDomain(publication, account, parameters.domain)
  const isLocal = domain !== undefined && parentAmong(domain.name, system.config.localPublicSuffixes) !== undefined
  const token = isLocal ? await tokens.add(system, trx, account.id, { name: 'dyndns' }) : undefined
  record(system, trx, 'account_activated', { account: account.id, by: 'link' })
  if (token !== undefined)
    record(system, trx, 'token_created', { account: account.id, token: token.token.id, by: 'link' })
  await publication.commit()
  return { account, domain, token }
}

/** The domain from the sign-up cannot be registered. */
class DomainUnavailable extends Invalid {
  readonly domain: string

  constructor(domain: string, texts: string[]) {
    super({ domain: texts })
    this.domain = domain
  }
}

/** @throws DomainUnavailable */
async function addDomain(
  publication: Publication,
  account: Account,
  name: string | null,
): Promise<DomainWithKeys | undefined> {
  if (name === null) return undefined
  try {
    return await creation.add(publication, unrestricted(account.id), { name, problems: {} })
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    throw new DomainUnavailable(name, Object.values(error.problems).flat() as string[])
  }
}
