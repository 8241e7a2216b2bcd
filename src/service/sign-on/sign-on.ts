import { Conflict, Denied, Invalid, orNotFound } from '../../errors.ts'
import type { Subject } from '../../issuer/claims.ts'
import { SIGN_IN_CODE_TIME, SIGN_IN_TIME } from '../../limits.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import * as identities from '../../store/accounts/identities.ts'
import * as signIns from '../../store/accounts/sign-ins.ts'
import * as sessions from '../../store/tokens/sign-on-sessions.ts'
import type { System } from '../../system.ts'
import { toDuration } from '../../time.ts'
import { addLogin } from '../accounts/logins.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { recordFailure } from '../throttling/failures.ts'
import { hashSecret } from '../tokens/authentication.ts'
import { withRights } from '../tokens/rights.ts'
import { generateSecret } from '../tokens/secrets.ts'
import type { NewToken } from '../tokens/tokens.ts'
import { beginAttempt, readAttempt } from './browser.ts'
import { withGroups } from './group-memberships.ts'
import { groupsOf, hasGroups } from './groups.ts'
import { accountOf, link, usable } from './identities.ts'

/** A code that a callback has handed to the page, and the cookie of its browser. */
export interface HandedCode {
  code: string
  cookie: string | undefined
}

/** Reports whether people can sign in at the issuer now. @throws NotFound if there is none */
export async function isReachable(system: System): Promise<boolean> {
  return orNotFound(system.issuer).isReachable()
}

/** Returns where the browser signs in, and the cookie that binds the sign-in to it. @throws Busy */
export async function begin(system: System): Promise<{ url: string; cookie: string }> {
  const { cookie, binding } = beginAttempt(system)
  return { url: await orNotFound(system.issuer).authorizationUrl(binding), cookie }
}

/**
 * Finishes the sign-in of a browser that comes back from the issuer. Each works once, whatever becomes of it.
 * @param query of the callback
 * @returns the code for `exchange`
 * @throws Denied, with what to do; Busy
 */
export async function finish(system: System, query: string, cookie: string | undefined): Promise<string> {
  try {
    return await outcome(system, query, cookie)
  } catch (error) {
    if (error instanceof Denied) await recordFailure(system, 'login_failed', { account: null, by: 'sign-on' })
    throw error
  }
}

async function outcome(system: System, query: string, cookie: string | undefined): Promise<string> {
  const { binding, begun } = readAttempt(system, cookie)
  if (new URLSearchParams(query).get('state') !== binding.state) {
    throw new Denied('This is not the sign-in that this browser began last. Sign in again.')
  }
  const stateHash = hashSecret(binding.state)
  const expires = new Date(begun + SIGN_IN_TIME * 1000).toISOString()
  if (!(await signIns.claim(system.db, stateHash, expires, system.now()))) {
    throw new Denied('This sign-in was used before. Sign in again.')
  }
  const subject = await orNotFound(system.issuer).redeem(
    query,
    binding,
    (claims) => claims['email'] !== undefined && hasGroups(system.config, claims),
  )
  const groups = await groupsOrEnd(system, subject)
  const { account, isLinked } = await accountOf(system, subject)
  const code = generateSecret()
  const { issuer, sub, sid, isMultiFactor } = subject
  const mfa = isMultiFactor || system.config.oidcMfa === 'trust'
  // Whoever has to sign in to the account first needs longer.
  const validity = isLinked ? SIGN_IN_CODE_TIME : SIGN_IN_TIME
  const signIn = { issuer, sub, sid, accountId: account.id, mfa, groups }
  await signIns.setOutcome(system.db, stateHash, { ...signIn, codeHash: hashSecret(code), validity, now: system.now() })
  return code
}

/**
 * Returns the groups of somebody; if they let nobody in, memberships of groups end. Codes with what the groups were before
 * are void. @throws Denied
 */
async function groupsOrEnd(system: System, subject: Subject): Promise<string[]> {
  try {
    const groups = groupsOf(system.config, subject.claims) ?? []
    await signIns.voidOtherGroups(system.db, subject, groups)
    return groups
  } catch (error) {
    if (error instanceof Denied) {
      // First, so that nothing begins anew what then ends.
      await signIns.voidOtherGroups(system.db, subject, [])
      const linked = await identities.find(system.db, subject)
      if (linked !== undefined) await withGroups(system, linked.accountId, [])
    }
    throw error
  }
}

/**
 * Creates a login token for the browser that has the code.
 * @param address the client's
 * @throws Invalid if the code is not valid for this browser; Conflict if the account's owner has to link it first
 */
export async function exchange(system: System, handed: HandedCode, address: string): Promise<NewToken> {
  const { presented, signIn } = await find(system, handed)
  const { accountId, mfa, groups } = signIn
  return withGroups(system, accountId, groups, async (trx, locked) => {
    const account = usable(locked)
    const linked = await identities.find(trx, signIn)
    if (linked?.accountId !== accountId) throw new Conflict(toLink(system, account.email))
    if (!(await signIns.use(trx, presented, system.now()))) throw invalidCode()
    await identities.use(trx, signIn, system.now())
    const maxAge = toDuration(BigInt(system.config.oidcSession) * 1_000_000n)
    const login = await addLogin(system, trx, accountId, address, { mfa, maxAge })
    await sessions.insert(trx, login.token.id, signIn)
    record(system, trx, 'token_created', { account: accountId, token: login.token.id, by: 'sign-on' })
    return login
  })
}

/**
 * Links the identity of a sign-in to the account of the actor, who has signed in there.
 * @throws Invalid if the code is not valid for this browser; Denied if the account is not that of the address
 */
export async function linkTo(visit: Visit, handed: HandedCode): Promise<void> {
  const { system, actor } = visit
  const { presented, signIn } = await find(system, handed)
  await withRights(visit, 'factors', [], async (trx) => {
    const account = usable(await accounts.lock(trx, signIn.accountId))
    if (account.id !== actor.accountId) throw new Denied(toLink(system, account.email))
    if (!(await signIns.use(trx, presented, system.now()))) throw invalidCode()
    await link(system, trx, signIn, account, actor.tokenId)
  })
  await withGroups(system, actor.accountId, signIn.groups)
}

async function find(
  system: System,
  { code, cookie }: HandedCode,
): Promise<{ presented: signIns.Presented; signIn: signIns.SignIn }> {
  const presented = { codeHash: hashSecret(code), stateHash: hashSecret(readAttempt(system, cookie).binding.state) }
  const signIn = await signIns.find(system.db, presented, system.now())
  if (signIn === undefined) throw invalidCode()
  return { presented, signIn }
}

function invalidCode(): Invalid {
  return Invalid.field('code', 'This code was used before, has expired, or is for another browser. Sign in again.')
}

function toLink({ config: { oidcName: name } }: System, email: string): string {
  return (
    `The address ${email} has an account already. Sign in to it once in another way within ten minutes, to link it with ` +
    `${name}.`
  )
}
