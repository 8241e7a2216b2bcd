import { Conflict, Denied, Invalid } from '../../errors.ts'
import { TOTP_LINK_VALIDITY } from '../../limits.ts'
import * as accounts from '../../store/accounts.ts'
import type { Account } from '../../store/accounts.ts'
import * as store from '../../store/confirmations.ts'
import type { Action } from '../../store/confirmations.ts'
import { transaction, type Db } from '../../store/database.ts'
import * as mails from '../../store/mails.ts'
import type { System } from '../../system.ts'
import { hashSecret } from '../tokens/authentication.ts'
import { mailText } from './mail-texts.ts'
import { generateSecret } from '../tokens/secrets.ts'

/** What can be confirmed by a link in a mail (contract §11.3), and what has to be known to do it. */
export interface Parameters {
  'activate-account': {
    /** The domain asked for at sign-up. */
    domain: string | null
    /** Whether a captcha was solved at sign-up. */
    isHuman: boolean
  }
  'change-email': { newEmail: string }
  'reset-password': Record<string, never>
  'delete-account': Record<string, never>
  'create-totp': { name: string }
}

export type { Action }

/** Seconds that the link to an action is valid. */
export function validity(system: System, action: Action): number {
  return action === 'create-totp' ? TOTP_LINK_VALIDITY : system.config.confirmationValidity
}

/**
 * Mails a link that, within its validity, carries an action out once, unless the account's credentials change before.
 * @param base the URL of the API
 * @param to the address, if it is not the account's own
 */
export async function request<A extends Action>(
  system: System,
  trx: Db,
  account: Account,
  action: A,
  parameters: Parameters[A],
  { base, to = account.email }: { base: string; to?: string },
): Promise<void> {
  const { id: accountId, credentialsChanged } = account
  const code = generateSecret()
  const now = system.now()
  await store.removeExpired(trx, now)
  await store.insert(trx, {
    codeHash: hashSecret(code),
    accountId,
    action,
    parameters,
    credentialsChanged,
    validity: validity(system, action),
    now,
  })
  const link = `${base}/v/${action}/${code}/`
  await mails.queue(trx, { to, ...mailText(action, link, validity(system, action)), now })
}

/**
 * Uses a code up for `work`, in one transaction: of any number that try at once, one gets through, and if the work
 * fails the code can be used again.
 * @throws Invalid, Denied, Conflict as contract §11.3 says
 */
export async function redeem<A extends Action, T>(
  system: System,
  action: A,
  code: string,
  work: (trx: Db, account: Account, parameters: Parameters[A]) => Promise<T>,
): Promise<T> {
  return system.queues.run(queueOf(code), () =>
    transaction(system.db, async (trx) => {
      const { account, parameters } = await claim(system, trx, action, code)
      return work(trx, account, parameters)
    }),
  )
}

/** As `redeem`, for a transaction that does more: locks the account, uses the code up, and says what for. */
export async function claim<A extends Action>(
  system: System,
  trx: Db,
  action: A,
  code: string,
): Promise<{ account: Account; parameters: Parameters[A] }> {
  const codeHash = hashSecret(code)
  const found = await store.find(trx, codeHash, system.now())
  const account = found && (await accounts.lock(trx, found.accountId))
  // Looked at again, under the lock: whoever uses a code of the account holds it.
  const confirmation = found && (await store.find(trx, codeHash, system.now()))
  const parameters = judge(system, action, confirmation, account)
  await store.use(trx, codeHash)
  return { account: account!, parameters }
}

/** Throws what `redeem` would, and does nothing. */
export async function check(system: System, action: Action, code: string): Promise<void> {
  const confirmation = await store.find(system.db, hashSecret(code), system.now())
  const account = confirmation && (await accounts.get(system.db, confirmation.accountId))
  judge(system, action, confirmation, account)
}

/** Requests with the same code queue up here, not with a connection to the database each. */
export function queueOf(code: string): string {
  return `code ${hashSecret(code).toString('hex')}`
}

/** What a code stands for, if it is good for the action. */
function judge<A extends Action>(
  system: System,
  action: A,
  confirmation: store.Confirmation | undefined,
  account: Account | undefined,
): Parameters[A] {
  if (confirmation === undefined) {
    const time = clockTime(validity(system, action))
    throw Invalid.object(`This code is invalid, possibly because it expired (validity: ${time}).`)
  }
  if (account === undefined) throw Invalid.field('user', 'This user does not exist.')
  if (account.state === 'disabled') throw new Denied('User inactive.')
  const { used, credentialsChanged } = confirmation
  if (used || credentialsChanged !== account.credentialsChanged || confirmation.action !== action) {
    throw new Conflict(
      'This action cannot be carried out because another operation has been performed, invalidating this one. (Are ' +
        'you trying to perform this action twice?)',
    )
  }
  return confirmation.parameters as Parameters[A]
}

/** Seconds as `[D ]HH:MM:SS` (contract §5.3). */
function clockTime(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const time = new Date((seconds % 86_400) * 1000).toISOString().slice(11, 19)
  return days === 0 ? time : `${days} ${time}`
}
