import { createHash } from 'node:crypto'
import { Denied, Unauthenticated } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import * as tokens from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import type { Actor } from './actor.ts'

/** The stored hash of a secret. Secrets are random, so a fast hash protects them (architecture.md). */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/**
 * Returns the actor of a token that is valid and allowed at `address`, and notes the use of the token (contract §3.1).
 * @throws Unauthenticated
 */
export async function authenticate(
  system: System,
  secret: string,
  address: string,
  db: Db = system.db,
): Promise<Actor> {
  const token = await tokens.present(db, hashSecret(secret), address, system.now())
  if (token === undefined) throw new Unauthenticated('Invalid token.')
  const { id, ownerId, userOverrideId, valid, active, allowed, ...permissions } = token
  if (!valid) throw new Unauthenticated('Invalid token.')
  if (!active) throw new Unauthenticated('User inactive or deleted.')
  if (!allowed) throw new Unauthenticated('Invalid token.')
  return { ...permissions, tokenId: id, accountId: userOverrideId ?? ownerId, override: userOverrideId !== null }
}

/** @throws Denied if the actor's MFA step is missing (contract §3.2) */
export function refuseMfaPending(actor: Actor): void {
  if (actor.mfaPending) throw new Denied()
}
