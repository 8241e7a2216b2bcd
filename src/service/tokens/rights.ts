import { Denied, Unauthenticated } from '../../errors.ts'
import { type Db, transaction } from '../../store/database.ts'
import { readPresented } from '../../store/tokens/presented.ts'
import type { Holder } from '../../store/tokens/rights.ts'
import * as rights from '../../store/tokens/rights.ts'
import type { System } from '../../system.ts'
import { type Actor, hasToken, type Visit, type Writer } from '../actor.ts'
import { groupOf } from '../throttling/callers.ts'
import { actorOf } from './authentication.ts'

export type { Holder }

type Requirement = (actor: Actor) => void

/** The text for members without the second factor that an account requires (contract §19.3). */
export const LACKS_FACTOR =
  'This account requires a second factor of its members. Add one to your own account, and log in with it.'
/** The text for members who want what only the account's own logins may (contract §19.1). */
export const OWN_LOGIN = "Only a login of the account itself may do this, not a member's."

const mfaPassed: Requirement = ({ mfaPending, mfaLacking }) => {
  if (mfaPending) throw new Denied()
  if (mfaLacking) throw new Denied(LACKS_FACTOR)
}
const mfaPassedForFactors: Requirement = ({ mfaPending }) => {
  if (mfaPending) throw new Denied('Multi-factor authentication required.')
}
const loginToken: Requirement = ({ mfa }) => {
  if (mfa === null) throw new Denied('Login token required.')
}
/** Also not for an API token that a member has made. */
const ownLogin: Requirement = ({ memberId }) => {
  if (memberId !== null) throw new Denied(OWN_LOGIN)
}
const noEditor: Requirement = ({ role }) => {
  if (role === 'editor') throw new Denied()
}
const withoutPolicies: Requirement = ({ restricted }) => {
  if (restricted) throw new Denied()
}
function permission(name: 'permCreateDomain' | 'permDeleteDomain' | 'permManageTokens'): Requirement {
  return (actor) => {
    if (!actor[name]) throw new Denied()
  }
}

/** What takes a domain away, or can make validating resolvers reject it. */
const domainDeletion = [mfaPassed, permission('permDeleteDomain')]

/** The requirements of each use of the API for a token, in this order (contract §3.2). Policies come on top of them. */
const REQUIREMENTS = {
  reads: [mfaPassed],
  rrsets: [mfaPassed],
  // What is about the whole domain, or gives it to others, is no writing of records; viewers fail as whoever may not write it.
  settings: [mfaPassed, noEditor],
  domainCreation: [mfaPassed, permission('permCreateDomain')],
  domainDeletion,
  keys: domainDeletion,
  keysByForce: [...domainDeletion, loginToken],
  tokens: [mfaPassed, permission('permManageTokens')],
  account: [mfaPassed, permission('permManageTokens'), withoutPolicies],
  ownAccount: [mfaPassed, permission('permManageTokens'), withoutPolicies, ownLogin],
  members: [mfaPassed, permission('permManageTokens'), withoutPolicies, loginToken],
  // Who chooses a webhook's address lets it hear of everything for good, so what a token alone could do is not enough.
  webhooks: [mfaPassed, permission('permManageTokens'), withoutPolicies, loginToken],
  memberships: [mfaPassed, permission('permManageTokens'), withoutPolicies, loginToken, ownLogin],
  factorReads: [loginToken, permission('permManageTokens'), withoutPolicies, ownLogin],
  factors: [loginToken, mfaPassedForFactors, permission('permManageTokens'), withoutPolicies, ownLogin],
  codes: [loginToken, permission('permManageTokens'), ownLogin],
  ownToken: [],
  logout: [],
} satisfies Record<string, Requirement[]>

/** A use of the API. */
export type Use = keyof typeof REQUIREMENTS

/** @throws Denied unless the actor is allowed this use of the API */
export function authorise(actor: Actor, use: Use): void {
  for (const require of REQUIREMENTS[use]) require(actor)
}

/**
 * Reads the rights of the writer's token again, and keeps them unchanged until the transaction ends: since its
 * authentication, the request may have waited for its body or its turn. Call it before the transaction locks anything;
 * statements that do not need the result can be sent at once, with it.
 * @param changed the holder of the rights that the write changes
 * @returns the writer's present state
 * @throws Unauthenticated, Denied, as if the request had come now; Unavailable
 */
export async function renew(
  system: System,
  trx: Db,
  writer: Writer,
  use: Use,
  changed: Holder[] = [],
): Promise<Writer> {
  if (!hasToken(writer)) {
    if (changed.length > 0) await rights.lock(trx, [], changed)
    return writer
  }
  const { tokenId, accountId, address, keyId = null } = writer
  const kept = keptBy(writer)
  // Sent together. The second statement sees the state at the time when the lock is granted.
  const [, token] = await Promise.all([
    rights.lock(trx, kept, changed),
    readPresented(trx, { id: tokenId, keyId }, address, system.now()),
  ])
  const actor = actorOf(token, address)
  // The operator has meanwhile bound the token to another account.
  if (actor.accountId !== accountId) throw new Unauthenticated('Invalid token.')
  authorise(actor, use)
  return actor
}

/** Returns the holders of the rights that a write of a token keeps. */
function keptBy({ tokenId, accountId, ownerId, memberId, personId }: Actor): Holder[] {
  const kept: Holder[] = [`token ${tokenId}`, `account ${accountId}`, `account ${ownerId}`]
  return memberId === null ? kept : [...kept, `member ${memberId}`, `account ${personId!}`]
}

/**
 * Returns the queues in which a large write of this process waits for the changes of its writer's rights, which wait for it
 * there, too: without a connection to Postgres, so that they keep none from others.
 */
export function queuesOfLarge(writer: Writer): string[] {
  return hasToken(writer) ? queuesFor(keptBy(writer)) : []
}

/** Always in the same order, so that nobody waits for another one who waits for him. */
function queuesFor(holders: Holder[]): string[] {
  return [...new Set(holders)].sort().map((holder) => `large writes with rights of ${holder}`)
}

/**
 * Runs `work`, which changes rights of these holders, after the large writes of this process that keep them. Those of a
 * group run one at a time, and a few of all, because they may wait for other writes, and connections are few.
 * @throws Busy, and errors of `work`
 */
export async function changing<T>(
  { bounds, patience }: System,
  group: string,
  changed: Holder[],
  work: () => Promise<T>,
): Promise<T> {
  // First its own line: a group that sends many keeps others waiting for one.
  const lines = [`changes of rights of ${group}`, ...queuesFor(changed)]
  const leave = await bounds.queues.takeInTurn(lines, patience)
  try {
    return await bounds.rights.run(`rights of ${group}`, patience, work)
  } finally {
    leave()
  }
}

/**
 * Runs `work` in a transaction that renews the writer's rights.
 * @param changed the holder of the rights that `work` changes
 * @throws Unauthenticated, Denied, Unavailable
 */
export async function withRights<T>(
  { system, actor }: Visit<Writer>,
  use: Use,
  changed: Holder[],
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  return changing(system, groupOf(actor), changed, () =>
    transaction(system.db, async (trx) => {
      await renew(system, trx, actor, use, changed)
      return work(trx)
    }),
  )
}

/** Keeps rights unchanged, for a writer without a token: so no account is deleted that gets something. */
export async function keep(trx: Db, holders: Holder[]): Promise<void> {
  await rights.lock(trx, holders, [])
}

/** Reserves the rights of a token, or of all tokens of an account, for a change by a writer without a token. */
export async function reserve(trx: Db, ...holders: Holder[]): Promise<void> {
  await rights.lock(trx, [], holders)
}
