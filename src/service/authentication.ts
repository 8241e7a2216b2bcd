import { createHash } from 'node:crypto'
import { Unauthenticated } from '../errors.ts'
import * as tokens from '../store/tokens.ts'
import type { System } from '../system.ts'
import type { Actor } from './actor.ts'

/** What is stored of a secret. Secrets are random, so a hash that is quick to compute protects them (architecture.md). */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/**
 * Whom the secret speaks for, when used from `address`; the token counts as used then (contract §3.1).
 * @throws Unauthenticated
 */
export async function authenticate(system: System, secret: string, address: string): Promise<Actor> {
  const token = await tokens.present(system.db, hashSecret(secret), address, system.now())
  if (token?.valid !== true) throw new Unauthenticated('Invalid token.')
  if (!token.active) throw new Unauthenticated('User inactive or deleted.')
  if (!token.allowed) throw new Unauthenticated('Invalid token.')
  return {
    tokenId: token.id,
    accountId: token.userOverrideId ?? token.ownerId,
    override: token.userOverrideId !== null,
    permCreateDomain: token.permCreateDomain,
    permDeleteDomain: token.permDeleteDomain,
    permManageTokens: token.permManageTokens,
    autoPolicy: token.autoPolicy,
    policies: token.policies,
  }
}
