import { Invalid } from '../../errors.ts'
import type { Verifiable } from '../../store/accounts/totp-factors.ts'
import * as factors from '../../store/accounts/totp-factors.ts'
import type { Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { record } from '../events.ts'
import { decrypt } from '../secrets/encryption.ts'
import { limitFailures } from '../throttling/guessing.ts'
import { matchingStep } from './totp-codes.ts'

/**
 * Finds the factor and time step of a code, for `factors.use` to accept.
 * @param candidates factors of this account
 * @throws Invalid if the code is wrong; Throttled after too many wrong ones (contract §14, `totp_failure`)
 */
export async function matchCode(
  system: System,
  accountId: string,
  candidates: Verifiable[],
  code: string,
): Promise<{ id: string; step: number }> {
  const match = await limitFailures(system, 'totp_failure', accountId, async () => {
    const now = system.now()
    const matches = candidates.flatMap(({ id, secret, lastStep }) => {
      const step = matchingStep(decrypt(system, { table: 'totp_factors', owner: id, secret }), code, now, lastStep)
      return step === undefined ? [] : { id, step }
    })
    return matches[0]
  })
  if (match === undefined) {
    record(system, 'code_failed', { account: accountId, by: 'request' })
    throw wrongCode()
  }
  return match
}

/**
 * Uses up a code of one of the account's factors, if MFA is enabled (contract §11.2).
 * @throws Invalid if the code is missing or wrong; Throttled after too many wrong ones
 */
export async function requireCode(system: System, trx: Db, accountId: string, code: string | undefined): Promise<void> {
  const used = await factors.used(trx, accountId)
  if (used.length === 0) return
  if (code === undefined) throw Invalid.field('code', 'This field is required.')
  const { id, step } = await matchCode(system, accountId, used, code)
  if ((await factors.use(trx, id, step, system.now())) === undefined) throw wrongCode()
}

/** Returns the error for a code that is wrong or was used before. */
export function wrongCode(): Invalid {
  return Invalid.field('code', 'Invalid code.')
}
