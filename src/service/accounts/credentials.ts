import { Denied } from '../../errors.ts'
import * as accounts from '../../store/accounts.ts'
import type { Account } from '../../store/accounts.ts'
import { transaction, type Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts'
import { comparePassword } from '../throttling/throttling.ts'

export interface Credentials {
  email: string
  password: string
  /** The client's IP address. */
  address: string
}

/**
 * Runs `work` if the password is right, in a transaction that locks the account. An unknown or inactive account fails
 * like a wrong password, with the same error and after the same time.
 * @throws Denied, Throttled
 */
export async function withPassword<T>(
  system: System,
  { email, password, address }: Credentials,
  work: (trx: Db, account: Account) => Promise<T>,
): Promise<T> {
  const known = await accounts.withEmail(system.db, email)
  const isRight = await comparePassword(system, address, async () => {
    const matches = await verifyPassword(known?.passwordHash ?? null, password)
    return matches && known?.state === 'active'
  })
  if (!isRight || known === undefined) throw invalidCredentials()
  const renewed = isOutdated(known.passwordHash!) ? await hashPassword(password) : undefined
  return transaction(system.db, async (trx) => {
    const account = await accounts.lock(trx, known.id)
    // The credentials may have changed during the comparison.
    if (account?.credentialsChanged !== known.credentialsChanged) throw invalidCredentials()
    if (renewed !== undefined) await accounts.setPasswordHash(trx, account.id, renewed)
    return work(trx, account)
  })
}

function invalidCredentials(): Denied {
  return new Denied('Invalid username/password.')
}
