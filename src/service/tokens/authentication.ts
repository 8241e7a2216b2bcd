import { LRUCache } from 'lru-cache'
import { createHash } from 'node:crypto'
import { Denied, Unauthenticated } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import * as tokens from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import type { Actor } from './actor.ts'

/** What is stored of a secret. Secrets are random, so a hash that is quick to compute protects them (architecture.md). */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The policies that tokens were last seen to have, by the hash of their secret: to read many each time costs too much. */
export type KnownPolicies = LRUCache<string, { fingerprint: string; policies: tokens.Policy[] }>

/** At most so many policies are kept. */
const KNOWN_POLICIES = 100_000

export function createKnownPolicies(): KnownPolicies {
  return new LRUCache({ maxSize: KNOWN_POLICIES, sizeCalculation: ({ policies }) => policies.length })
}

/**
 * Whom the secret speaks for, when used from `address`; the token counts as used then (contract §3.1).
 * @throws Unauthenticated
 */
export async function authenticate(
  system: System,
  secret: string,
  address: string,
  db: Db = system.db,
): Promise<Actor> {
  const hash = hashSecret(secret)
  const known = system.knownPolicies.get(hash.toString('base64'))
  const token = await tokens.present(db, hash, address, system.now(), known?.fingerprint ?? '')
  if (token?.valid !== true) throw new Unauthenticated('Invalid token.')
  if (!token.active) throw new Unauthenticated('User inactive or deleted.')
  if (!token.allowed) throw new Unauthenticated('Invalid token.')
  const policies = token.policies ?? known!.policies
  if (token.policies !== null && policies.length > 0) {
    system.knownPolicies.set(hash.toString('base64'), { fingerprint: token.policiesFingerprint, policies })
  }
  return {
    tokenId: token.id,
    accountId: token.userOverrideId ?? token.ownerId,
    override: token.userOverrideId !== null,
    dailyRate: token.dailyRate,
    mfa: token.mfa,
    mfaPending: token.mfaPending,
    permCreateDomain: token.permCreateDomain,
    permDeleteDomain: token.permDeleteDomain,
    permManageTokens: token.permManageTokens,
    autoPolicy: token.autoPolicy,
    policies,
  }
}

/** @throws Denied if the actor's MFA step is missing (contract §3.2) */
export function refuseMfaPending(actor: Actor): void {
  if (actor.mfaPending) throw new Denied()
}
