import { hash } from 'node:crypto'
import { Unauthenticated } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { PresentedToken } from '../../store/tokens/presented.ts'
import * as tokens from '../../store/tokens/presented.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../actor.ts'

/** A token that a client presents, if it exists, and the conditions of its use. */
export type Presented = PresentedToken | undefined

/** Computes the stored hash of a secret. Secrets are random, so a fast hash protects them (architecture.md). */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/**
 * Returns the actor of a token that is valid and allowed at `address`, and notes the use of the token (contract §3.1).
 * @throws Unauthenticated
 */
export async function authenticate(system: System, secret: string, address: string): Promise<Actor> {
  return actorOf(await present(system, system.db, secret, address), address)
}

/** Reads the token of a secret, and notes its use if it is valid and allowed at `address`. */
export async function present({ now }: System, db: Db, secret: string, address: string): Promise<Presented> {
  return tokens.usePresented(db, hashSecret(secret), address, now())
}

/** Reads the token whose TSIG key is said to have signed a message (contract §21.2). */
export async function presentedBy(system: System, id: string, address: string): Promise<Presented> {
  return tokens.readPresented(system.db, { id, keyId: null }, address, system.now())
}

/** Returns the actor of a token whose key has signed a message. @throws Unauthenticated if it is not valid */
export function signerOf(presented: Presented, keyId: string, address: string): Actor {
  return { ...actorOf(presented, address), keyId }
}

/** Notes the use of a token, unless another request does. If Postgres is away, the request itself will fail. */
export async function noteUse(system: System, { tokenId }: Pick<Actor, 'tokenId'>): Promise<void> {
  await tokens.noteUse(system.db, tokenId, system.now()).catch(() => undefined)
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
