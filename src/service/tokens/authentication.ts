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
  const token = await tokens.present(db, hashSecret(secret), address, system.now())
  if (token?.valid !== true) throw new Unauthenticated('Invalid token.')
  if (!token.active) throw new Unauthenticated('User inactive or deleted.')
  if (!token.allowed) throw new Unauthenticated('Invalid token.')
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
    restricted: token.restricted,
  }
}

/** @throws Denied if the actor's MFA step is missing (contract §3.2) */
export function refuseMfaPending(actor: Actor): void {
  if (actor.mfaPending) throw new Denied()
}
