import { Denied } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import * as store from '../../store/policies.ts'
import type { Policy } from '../../store/tokens.ts'
import type { Actor } from './actor.ts'

/** What a policy may speak of: an RRset's place. */
export interface RRsetKey {
  subname: string
  type: string
}

/**
 * The policies of an actor's token that can match something in a domain. Empty if the token may write everything: a
 * restricted one has a default policy (contract §6.3).
 */
export async function policiesOn(
  db: Db,
  { tokenId, restricted }: Pick<Actor, 'tokenId' | 'restricted'>,
  domainId: number,
): Promise<Policy[]> {
  return restricted ? store.matching(db, tokenId, domainId) : []
}

/**
 * Whether a token with these policies may write this RRset: of the policies that match, the most specific one decides,
 * a domain counting more than a subname, and that more than a type (contract §6.4).
 */
export function mayWrite(policies: Policy[], domainId: number, place: RRsetKey): boolean {
  if (policies.length === 0) return true
  let decisive: Policy | undefined
  for (const policy of policies) {
    if (matches(policy, domainId, place) && (decisive === undefined || rank(policy) > rank(decisive))) decisive = policy
  }
  return decisive?.permWrite ?? false
}

function matches(policy: Policy, domainId: number, place: RRsetKey): boolean {
  return (
    (policy.domainId === null || policy.domainId === domainId) &&
    (policy.subname === null || policy.subname === place.subname) &&
    (policy.type === null || policy.type === place.type)
  )
}

function rank(policy: Policy): number {
  return 4 * Number(policy.domainId !== null) + 2 * Number(policy.subname !== null) + Number(policy.type !== null)
}

/** @throws Denied if a token with these policies may not write every one of these RRsets (contract §6.5) */
export function authoriseWrites(policies: Policy[], domainId: number, places: Iterable<RRsetKey>): void {
  if (policies.length === 0) return
  for (const place of places) {
    if (!mayWrite(policies, domainId, place)) throw new Denied('Insufficient token permissions.')
  }
}
