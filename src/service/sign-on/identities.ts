import { Denied } from '../../errors.ts'
import type { Subject } from '../../issuer/claims.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Identity } from '../../store/accounts/identities.ts'
import * as store from '../../store/accounts/identities.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { add, canonicalEmail, emailProblems } from '../accounts/accounts.ts'
import { record } from '../events.ts'
import { notify } from '../mails/notices.ts'

/** The account of somebody at the issuer. */
export interface Found {
  account: Account
  /** False: it has the same address, and only its owner can link it. */
  isLinked: boolean
}

/**
 * Returns the account of somebody who has signed in at the issuer (contract §11.4): the one that is linked to the identity,
 * whatever their address; at the first sign-in that of their address, or a new one, if the settings allow it.
 * @throws Denied, with what to do; nothing is then created or linked
 */
export async function accountOf(system: System, subject: Subject): Promise<Found> {
  const linked = await store.find(system.db, subject)
  if (linked !== undefined) {
    const account = await accounts.get(system.db, linked.accountId)
    return { account: usable(account), isLinked: true }
  }
  const email = verifiedAddress(system, subject)
  const present = await accounts.withEmail(system.db, email)
  if (present === undefined || present.state === 'pending') {
    return { account: await create(system, subject, email), isLinked: true }
  }
  const account = usable(present)
  const others = await store.ofAccount(system.db, account.id)
  if (others.some(({ issuer }) => issuer === subject.issuer)) throw takenBy(system, email)
  if (!system.config.oidcTrustEmail) return { account, isLinked: false }
  await transaction(system.db, async (trx) => {
    usable(await accounts.lock(trx, account.id))
    await link(system, trx, subject, account, 'sign-on')
  })
  return { account, isLinked: true }
}

/** Links an identity to an account, and tells the owner by mail. @throws Denied if either is linked to another one */
export async function link(system: System, trx: Db, identity: Identity, account: Account, by: string): Promise<void> {
  if (!(await store.insert(trx, identity, account.id, system.now()))) throw takenBy(system, account.email)
  await notify(system, trx, account, 'identity-linked', system.config.oidcName)
  record(system, trx, 'identity_linked', { account: account.id, by })
}

/** Creates an account without a password, instead of a pending one: nobody has shown that theirs has this address. */
async function create(system: System, subject: Subject, email: string): Promise<Account> {
  const { oidcName: name } = system.config
  if (!maySignUp(system, email)) {
    throw new Denied(
      `There is no account with the address ${email}, and ${name} may not create it. Ask the operator of this service ` +
        'for an account.',
    )
  }
  return transaction(system.db, async (trx) => {
    const values = { passwordHash: null, state: 'active', outreachPreference: true } as const
    const added = await add(system, trx, email, values)
    // Meanwhile, somebody else has used the address, or the same person has signed in twice.
    if (added === undefined || !(await store.insert(trx, subject, added.id, system.now()))) {
      throw new Denied('Another sign-in was faster. Sign in again.')
    }
    record(system, trx, 'account_created', { account: added.id, by: 'sign-on' })
    return added
  })
}

function maySignUp({ config: { oidcSignUp } }: System, email: string): boolean {
  return Array.isArray(oidcSignUp) ? oidcSignUp.includes(email.slice(email.lastIndexOf('@') + 1)) : oidcSignUp
}

/** Returns the address of which the issuer says that it is the person's. @throws Denied without one */
function verifiedAddress({ config: { oidcName: name } }: System, { claims }: Subject): string {
  const { email, email_verified: isVerified } = claims
  if (typeof email !== 'string' || emailProblems(email).length > 0) {
    throw new Denied(
      `${name} tells this service no e-mail address of you. Let whoever runs it give you one, and send it (claim "email").`,
    )
  }
  if (isVerified !== true) {
    throw new Denied(
      `${name} does not say that the address ${email} is yours (claim "email_verified"). Confirm it there, and sign in ` +
        'again.',
    )
  }
  return canonicalEmail(email)
}

/** @throws Denied unless it exists and is active */
export function usable(account: Account | undefined): Account {
  if (account?.state !== 'active') {
    throw new Denied('Your account is disabled or was deleted. Ask the operator of this service.')
  }
  return account
}

function takenBy({ config: { oidcName: name } }: System, email: string): Denied {
  return new Denied(
    `The account with the address ${email} belongs to somebody else at ${name}, who perhaps had this address before. Ask ` +
      'the operator of this service to end this link.',
  )
}
