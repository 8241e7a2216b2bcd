import type { Domain, Viewer } from '../store/domains/domains.ts'
import type { PresentedToken } from '../store/tokens/presented.ts'
import type { System } from '../system.ts'
import { NIL_UUID } from './ids.ts'

/** The account that a token acts for, and the token's rights (contract §3). */
export type Actor = Viewer &
  Omit<PresentedToken, 'id' | 'userOverrideId' | 'valid' | 'active' | 'allowed'> & {
    /** The client's IP address. */
    address: string
    /** The TSIG key with which it came, if it did. */
    keyId?: string
  }

/** The author of a write: an actor, or a user or operator without a token. */
export type Writer = Actor | ReturnType<typeof unrestricted>

/** An actor, or another writer, at a system. */
export interface Visit<A = Actor> {
  system: System
  actor: A
}

/** The access of an actor, or of another writer, to a domain. */
export interface Access<A extends Writer = Actor> extends Visit<A> {
  domain: Domain
}

/** Returns an unrestricted writer without a token: the user of a confirmation link. */
export function unrestricted(accountId: string, { byOperator } = { byOperator: false }) {
  const membership = { memberId: null, role: null, confined: false }
  return {
    tokenId: NIL_UUID,
    accountId,
    override: false,
    restricted: false,
    autoPolicy: false,
    byOperator,
    ...membership,
  }
}

/** Returns the writer for an operator who writes for an account. */
export function operatorFor(accountId: string) {
  return unrestricted(accountId, { byOperator: true })
}

export function hasToken(writer: Writer): writer is Actor {
  return writer.tokenId !== NIL_UUID
}

export function isOperator(writer: Writer): boolean {
  return !hasToken(writer) && writer.byOperator
}
