import { Conflict, Denied, Invalid } from '../../errors.ts'
import { FACTOR_LINK_VALIDITY, INVITATION_VALIDITY } from '../../limits.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Action } from '../../store/accounts/confirmations.ts'
import * as store from '../../store/accounts/confirmations.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { toDuration } from '../../time.ts'
import { mailText } from '../mails/mail-texts.ts'
import { send } from '../mails/mails.ts'
import { hashSecret } from '../tokens/authentication.ts'
import { changing, reserve } from '../tokens/rights.ts'
import { generateSecret } from '../tokens/secrets.ts'

/** The parameters of each action that a link in a mail confirms (contract §11.3). */
export interface Parameters {
  /** The domain from the sign-up. */
  'activate-account': { domain: string | null }
  'change-email': { newEmail: string }
  'reset-password': {
    /** Overrides the request that carries the action out. */
    revokeTokens?: boolean
  }
  'delete-account': Record<string, never>
  'create-totp': { name: string }
  /** What the authenticator has said; octets in base64url. */
  'create-passkey': {
    name: string
    credentialId: string
    publicKey: string
    signCount: number
    backedUp: boolean
    transports: string[]
  }
  'accept-invitation': {
    memberId: string
    /** The membership of who invited; null: a login of the account itself. */
    by: string | null
  }
}

export { ACTIONS } from '../../store/accounts/confirmations.ts'
export type { Action }

/** Returns the seconds for which the links of an action are valid. */
function validityOf(system: System, action: Action): number {
  if (action === 'accept-invitation') return INVITATION_VALIDITY
  const isForFactor = action === 'create-totp' || action === 'create-passkey'
  return isForFactor ? FACTOR_LINK_VALIDITY : system.config.confirmationValidity
}

/**
 * Mails a link that carries out an action once. It expires, and becomes void when the account's credentials change.
 * @param base the URL of the API
 * @param to the recipient, if not the account's address
 * @param note a further paragraph
 * @returns false if the recipient has got too many such mails, and gets none
 */
export async function request<A extends Action>(
  system: System,
  trx: Db,
  account: Account,
  action: A,
  parameters: Parameters[A],
  { base, to = account.email, note }: { base: string; to?: string; note?: string | undefined },
): Promise<boolean> {
  const { id: accountId, credentialsChanged } = account
  const code = generateSecret()
  const codeHash = hashSecret(code)
  const validity = validityOf(system, action)
  const now = system.now()
  const text = mailText(action, `${base}/v/${action}/${code}/`, validity, note)
  if (!(await send(system, trx, { to, accountId, kind: action }, text))) return false
  await store.removeExpired(trx, now)
  await store.insert(trx, { codeHash, accountId, action, parameters, credentialsChanged, validity, now })
  return true
}

/**
 * Uses up a code and runs `work` in one transaction. Of several simultaneous requests only one succeeds. If `work`
 * fails, the code stays valid.
 * @throws Invalid, Denied, Conflict (contract §11.3)
 */
export async function redeem<A extends Action, T>(
  system: System,
  action: A,
  code: string,
  work: (trx: Db, account: Account, parameters: Parameters[A]) => Promise<T>,
): Promise<T> {
  const accountId = (await check(system, action, code)).account.id
  return changing(system, `codes of ${accountId}`, [`account ${accountId}`], () =>
    transaction(system.db, async (trx) => {
      const { account, parameters } = await claim(system, trx, action, code)
      return work(trx, account, parameters)
    }),
  )
}

/** Uses up a code like `redeem`, inside the caller's transaction: locks the account and its rights. */
export async function claim<A extends Action>(
  system: System,
  trx: Db,
  action: A,
  code: string,
): Promise<{ account: Account; parameters: Parameters[A] }> {
  const codeHash = hashSecret(code)
  const found = await store.find(trx, codeHash, system.now())
  if (found !== undefined) await reserve(trx, `account ${found.accountId}`)
  const account = found && (await accounts.lock(trx, found.accountId))
  // Read again under the lock, which every use of one of the account's codes requires.
  const confirmation = found && (await store.find(trx, codeHash, system.now()))
  const parameters = validated(system, action, confirmation, account)
  await store.use(trx, codeHash)
  return { account: account!, parameters }
}

/** Throws the errors of `redeem`, but leaves the code unused. */
export async function check<A extends Action>(
  system: System,
  action: A,
  code: string,
): Promise<{ account: Account; parameters: Parameters[A] }> {
  const confirmation = await store.find(system.db, hashSecret(code), system.now())
  const account = confirmation && (await accounts.get(system.db, confirmation.accountId))
  const parameters = validated(system, action, confirmation, account)
  return { account: account!, parameters }
}

/** Returns the key of a queue, so that requests with the same code do not occupy a database connection each. */
export function queueOf(code: string): string {
  return `code ${hashSecret(code).toString('hex')}`
}

/** Returns the code's parameters, if it is valid for the action. */
function validated<A extends Action>(
  system: System,
  action: A,
  confirmation: store.Confirmation | undefined,
  account: Account | undefined,
): Parameters[A] {
  if (confirmation === undefined) {
    const time = toDuration(BigInt(validityOf(system, action)) * 1_000_000n)
    throw Invalid.object(`This code is invalid, possibly because it expired (validity: ${time}).`)
  }
  if (account === undefined) throw Invalid.field('user', 'This user does not exist.')
  if (account.state === 'disabled') throw new Denied('User inactive.')
  const { used, credentialsChanged } = confirmation
  if (used || credentialsChanged !== account.credentialsChanged || confirmation.action !== action) {
    throw overtaken()
  }
  return confirmation.parameters as Parameters[A]
}

/** Returns the error for a code that something else has made void (contract §11.3). */
export function overtaken(): Conflict {
  return new Conflict(
    'This action cannot be carried out because another operation has been performed, invalidating this one. (Are ' +
      'you trying to perform this action twice?)',
  )
}
