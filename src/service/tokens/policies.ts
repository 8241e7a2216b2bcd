import { Denied } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import * as store from '../../store/policies.ts'
import type { RRsetKey } from '../../store/rrsets.ts'
import type { Policy } from '../../store/tokens.ts'
import type { Actor } from './actor.ts'

/**
 * The policies of the actor's token that can match an RRset of the domain. An empty array means that the token may
 * write everything, because a restricted token has a default policy (contract §6.3).
 */
export async function policiesOn(
  db: Db,
  { tokenId, restricted }: Pick<Actor, 'tokenId' | 'restricted'>,
  domainId: number,
): Promise<Policy[]> {
  return restricted ? store.matching(db, tokenId, domainId) : []
}

/**
 * Whether a token with these policies may write this RRset. The most specific matching policy decides: a domain
 * outweighs subname and type, and a subname outweighs a type (contract §6.4).
 */
export function mayWrite(policies: Policy[], domainId: number, key: RRsetKey): boolean {
  if (policies.length === 0) return true
  const matching = policies.filter((policy) => matches(policy, domainId, key))
  const [decisive] = matching.sort((one, other) => specificity(other) - specificity(one))
  return decisive?.permWrite ?? false
}

function matches(policy: Policy, domainId: number, key: RRsetKey): boolean {
  return (
    (policy.domainId ?? domainId) === domainId &&
    (policy.subname ?? key.subname) === key.subname &&
    (policy.type ?? key.type) === key.type
  )
}

function specificity({ domainId, subname, type }: Policy): number {
  return 4 * Number(domainId !== null) + 2 * Number(subname !== null) + Number(type !== null)
}

/** @throws Denied unless a token with these policies may write all of these RRsets (contract §6.5) */
export function authoriseWrites(policies: Policy[], domainId: number, keys: Iterable<RRsetKey>): void {
  for (const key of keys) {
    if (!mayWrite(policies, domainId, key)) throw new Denied('Insufficient token permissions.')
  }
}
