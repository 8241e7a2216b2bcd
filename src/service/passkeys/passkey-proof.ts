import { Invalid } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Purpose } from '../../store/accounts/passkey-challenges.ts'
import * as store from '../../store/accounts/passkeys.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { notify } from '../mails/notices.ts'
import { recordFailure } from '../throttling/failures.ts'
import { type Assertion, examineSignature, type Site, unknownPasskey } from './webauthn.ts'

/** The counter of a passkey has not grown: somebody has a copy of the authenticator. */
class CopiedPasskey extends Invalid {
  readonly accountId: string
  /** The passkey's name. */
  readonly copied: string

  constructor({ accountId, name }: { accountId: string; name: string }) {
    const text =
      'This passkey was refused, because it may have been copied. Please sign in another way, delete it, and add a new one.'
    super({ passkey: [text] })
    this.accountId = accountId
    this.copied = name
  }
}

/** What a passkey is used for. */
interface Use {
  site: Site
  /** Whether a challenge was made for this. */
  isFor: (purpose: Purpose) => boolean
  /** The event of a refused passkey, and by whom. */
  failure: 'login_failed' | 'code_failed'
  by: string
}

/**
 * Examines the signature of one of an account's passkeys, uses up its challenge, and notes its use.
 * @param account locked, so that the passkey is not deleted meanwhile
 * @returns the passkey's id
 * @throws Invalid; run it in `tellingOfCopies`
 */
export async function provePasskey(
  system: System,
  trx: Db,
  account: Account,
  assertion: Assertion,
  { failure, by, ...use }: Use,
): Promise<string> {
  try {
    return await prove(system, trx, account, assertion, use)
  } catch (error) {
    if (error instanceof Invalid) await recordFailure(system, failure, { account: account.id, by })
    throw error
  }
}

async function prove(
  system: System,
  trx: Db,
  { id, userHandle }: Account,
  assertion: Assertion,
  { site, isFor }: Pick<Use, 'site' | 'isFor'>,
): Promise<string> {
  const passkey = await store.withCredential(trx, Buffer.from(assertion.id, 'base64url'))
  const isOwn = passkey?.accountId === id && [null, printHandle(userHandle)].includes(assertion.userHandle)
  if (!isOwn) throw unknownPasskey()
  const signed = await examineSignature(system, trx, assertion, passkey, site, isFor)
  if (!(await store.use(trx, passkey.id, signed, system.now()))) throw new CopiedPasskey(passkey)
  return passkey.id
}

/** Runs `work`; if it finds that a passkey was copied, its owner gets a mail, although nothing else is stored. */
export async function tellingOfCopies<T>(system: System, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CopiedPasskey) {
      await transaction(system.db, async (trx) => {
        const account = await accounts.get(trx, error.accountId)
        // A name may have line breaks.
        if (account !== undefined) await notify(system, trx, account, 'passkey-copied', JSON.stringify(error.copied))
      })
    }
    throw error
  }
}

/** Returns an account's name for authenticators in base64url, as browsers and answers have it. */
export function printHandle(userHandle: string): string {
  return Buffer.from(userHandle.replaceAll('-', ''), 'hex').toString('base64url')
}
