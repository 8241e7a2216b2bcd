import { Denied } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { networkOf } from '../throttling/callers.ts'
import { recordFailure } from '../throttling/failures.ts'
import { comparePassword } from '../throttling/guessing.ts'
import { type CaptchaAnswer, checkCaptcha } from './captchas.ts'
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts'

export interface Credentials {
  email: string
  password: string
  /** The client's IP address. */
  address: string
  /** The captcha; needed if too many passwords were wrong (contract §14). */
  captcha?: CaptchaAnswer
}

/** @throws Denied if nobody has a password here */
export function refusePasswords({ config }: System): void {
  if (!config.passwords) throw new Denied('Passwords are switched off here. Sign in with single sign-on.')
}

/**
 * Runs `work` if the password is right, in a transaction that locks the account. An unknown or inactive account fails
 * like a wrong password, with the same error and after the same time.
 * @throws Denied, Throttled; Invalid if a captcha was needed and not solved
 */
export async function withPassword<T>(
  system: System,
  { email, password, address, captcha }: Credentials,
  work: (trx: Db, account: Account) => Promise<T>,
): Promise<T> {
  refusePasswords(system)
  const known = await accounts.withEmail(system.db, email)
  const network = networkOf(address)
  const compare = async (isTrusted: boolean) => {
    const client = isTrusted ? email.toLowerCase() : undefined
    const matches = await verifyPassword(known?.passwordHash ?? null, password, client)
    return matches && known?.state === 'active'
  }
  const solve = captcha === undefined ? undefined : () => checkCaptcha(system, captcha)
  const isKnownNetwork = known?.knownNetworks.includes(network) === true
  let isRight = false
  try {
    isRight = await comparePassword(system, { address, email, isKnownNetwork, solve, compare })
  } finally {
    if (!isRight) await recordFailure(system, 'login_failed', { account: known?.id ?? null, by: 'password' })
  }
  if (!isRight || known === undefined) throw invalidCredentials()
  const renewed = isOutdated(known.passwordHash!) ? await hashPassword(password, known.id) : undefined
  return transaction(system.db, async (trx) => {
    const account = await accounts.lock(trx, known.id)
    // The credentials may have changed during the comparison.
    if (account?.credentialsChanged !== known.credentialsChanged) throw invalidCredentials()
    if (renewed !== undefined) await accounts.setPasswordHash(trx, account.id, renewed)
    await accounts.addKnownNetwork(trx, account.id, network, { isProved: false })
    return work(trx, account)
  })
}

function invalidCredentials(): Denied {
  return new Denied('Invalid username/password.')
}
