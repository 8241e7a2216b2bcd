import { createHash } from 'node:crypto'
import { Unauthenticated } from '../../errors.ts'
import type { PresentedToken } from '../../store/tokens/presented.ts'
import * as tokens from '../../store/tokens/presented.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../actor.ts'

/** Computes the stored hash of a secret. Secrets are random, so a fast hash protects them (architecture.md). */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/**
 * Returns the actor of a token that is valid and allowed at `address`, and notes the use of the token (contract §3.1).
 * @throws Unauthenticated
 */
export async function authenticate(system: System, secret: string, address: string): Promise<Actor> {
  return use(system, { secretHash: hashSecret(secret) }, address)
}

/** As `authenticate`, of the token whose TSIG key has signed a message (contract §21.2). @throws Unauthenticated */
export async function authenticateSigner(system: System, id: string, keyId: string, address: string): Promise<Actor> {
  return { ...(await use(system, { id, keyId }, address)), keyId }
}

async function use(system: System, presented: tokens.Presented, address: string): Promise<Actor> {
  return actorOf(await tokens.usePresented(system.db, presented, address, system.now()), address)
}

/** Returns the actor of a token that a client at `address` has presented. @throws Unauthenticated if it is not valid */
export function actorOf(token: PresentedToken | undefined, address: string): Actor {
  if (token === undefined) throw new Unauthenticated('Invalid token.')
  const { id, userOverrideId, valid, active, allowed, ...rest } = token
  if (!valid) throw new Unauthenticated('Invalid token.')
  if (!active) throw new Unauthenticated('User inactive or deleted.')
  if (!allowed) throw new Unauthenticated('Invalid token.')
  return { ...rest, address, tokenId: id, accountId: userOverrideId ?? rest.ownerId, override: userOverrideId !== null }
}
