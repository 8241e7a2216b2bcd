import { Denied, Invalid } from '../../errors.ts'
import * as accounts from '../../store/accounts.ts'
import type { Account } from '../../store/accounts.ts'
import type { Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { canonicalEmail } from './accounts.ts'
import { localParent } from '../zone/local-suffixes.ts'
import { refuseRobots, type CaptchaAnswer } from './captchas.ts'
import * as confirmations from './confirmations.ts'
import * as domains from '../domains/domains.ts'
import type { DomainWithKeys } from '../domains/domains.ts'
import { inConstantTime } from './constant-time.ts'
import { hashPassword } from './passwords.ts'
import { openPublication, type Publication } from '../zone/publication.ts'
import { unrestricted } from '../tokens/actor.ts'
import * as tokens from '../tokens/tokens.ts'
import type { NewToken } from '../tokens/tokens.ts'

/** What a person says who wants an account. */
export interface SignUp {
  email: string
  /** null: to be set later. */
  password: string | null
  domain?: string
  /** Looked at if captchas are on; if it is missing then, the activation asks for one. */
  captcha?: CaptchaAnswer
  outreachPreference?: boolean
}

/** @throws Denied if nobody can sign up */
export function refuseIfClosed(system: System): void {
  if (!system.config.registration) throw new Denied('Registration is closed. Please contact the operator.')
}

/**
 * Makes an account: active if no confirmation is asked for, else with a mail that leads to its activation. If there is
 * one with this address nothing is done, and nothing tells.
 * @param base the URL of the API
 * @returns whether the address is to be confirmed
 * @throws Invalid, Throttled
 */
export async function signUp(system: System, wish: SignUp, base: string): Promise<boolean> {
  const { emailConfirmation } = system.config
  if (wish.domain !== undefined) await refuseUnavailable(system, wish.domain)
  if (wish.captcha !== undefined || !emailConfirmation) await refuseRobots(system, wish.captcha)
  const passwordHash = wish.password === null ? null : await hashPassword(wish.password)
  await inConstantTime(() => addAccount(system, wish, passwordHash, base))
  return emailConfirmation
}

async function addAccount(system: System, wish: SignUp, passwordHash: string | null, base: string): Promise<void> {
  await using publication = await openPublication(system, `sign-up ${canonicalEmail(wish.email)}`)
  const { trx } = publication
  const account = await insert(system, trx, wish, passwordHash)
  if (account !== undefined) {
    const domain = wish.domain ?? null
    if (!system.config.emailConfirmation) await addDomain(publication, account, domain)
    else {
      const parameters = { domain, isHuman: wish.captcha !== undefined }
      await confirmations.request(system, trx, account, 'activate-account', parameters, { base })
    }
  }
  await publication.commit()
}

/** The new account; undefined if its address is taken. Those that were not confirmed in time make room. */
async function insert(
  system: System,
  trx: Db,
  { email, outreachPreference = true }: SignUp,
  passwordHash: string | null,
): Promise<Account | undefined> {
  const now = system.now()
  const oldest = new Date(Date.parse(now) - system.config.confirmationValidity * 1000).toISOString()
  await accounts.removePending(trx, oldest)
  return accounts.insert(trx, {
    email: canonicalEmail(email),
    passwordHash,
    state: system.config.emailConfirmation ? 'pending' : 'active',
    limitDomains: system.config.limitDomains ?? null,
    dailyRate: null,
    outreachPreference,
    now,
  })
}

/** What came of an activation. */
export interface Activation {
  account: Account
  domain: DomainWithKeys | undefined
  /** To write the domain with, if it lies below a local public suffix (contract §7.6). */
  token: NewToken | undefined
}

/**
 * Activates an account, with the domain that was asked for at sign-up; if that cannot be had any more, the account is
 * removed instead, to be made anew. An account without a password gets a mail that leads to one.
 * @param captcha is asked for once the code is known to be good; looked at if there was none at sign-up
 * @param base the URL of the API
 * @throws Invalid, Denied, Conflict, Unavailable, NameserverFailure
 */
export async function activate(
  system: System,
  code: string,
  { captcha, base }: { captcha: () => CaptchaAnswer | undefined; base: string },
): Promise<Activation> {
  try {
    return await activateWithDomain(system, code, { captcha, base })
  } catch (error) {
    if (!(error instanceof DomainUnavailable)) throw error
    await confirmations.redeem(system, 'activate-account', code, (trx, account) => accounts.remove(trx, account.id))
    throw Invalid.object(
      `The requested domain ${error.domain} could not be registered (reason: name_unavailable). Please start over and ` +
        'sign up again.',
    )
  }
}

async function activateWithDomain(
  system: System,
  code: string,
  { captcha, base }: { captcha: () => CaptchaAnswer | undefined; base: string },
): Promise<Activation> {
  await using publication = await openPublication(system, confirmations.queueOf(code))
  const { trx } = publication
  const { account: pending, parameters } = await confirmations.claim(system, trx, 'activate-account', code)
  const answer = captcha()
  if (!parameters.isHuman) await refuseRobots(system, answer)
  const account = await accounts.changeCredentials(trx, pending.id, { state: 'active' }, system.now())
  if (account.passwordHash === null) {
    await confirmations.request(system, trx, account, 'reset-password', {}, { base })
  }
  const domain = await addDomain(publication, account, parameters.domain)
  const isLocal = domain !== undefined && isBelowLocalSuffix(system, domain.name)
  const token = isLocal ? await tokens.add(system, trx, account.id, { name: 'dyndns' }) : undefined
  await publication.commit()
  return { account, domain, token }
}

function isBelowLocalSuffix({ config }: System, name: string): boolean {
  return localParent(name, config.localPublicSuffixes) !== undefined
}

/** The domain that was asked for at sign-up cannot be had. */
class DomainUnavailable extends Invalid {
  readonly domain: string

  constructor(domain: string, texts: string[]) {
    super({ domain: texts })
    this.domain = domain
  }
}

/** @throws DomainUnavailable if somebody who has no domain yet could not create it now */
async function refuseUnavailable(system: System, name: string): Promise<void> {
  const texts = await domains.newcomerProblems(system, name)
  if (texts.length > 0) throw new DomainUnavailable(name, texts)
}

async function addDomain(
  publication: Publication,
  account: Account,
  name: string | null,
): Promise<DomainWithKeys | undefined> {
  if (name === null) return undefined
  try {
    return await domains.add(publication, unrestricted(account.id), { name, problems: {} })
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    throw new DomainUnavailable(name, Object.values(error.problems).flat() as string[])
  }
}
