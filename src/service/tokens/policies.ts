import { Denied } from '../../errors.ts'
import type { Policy } from '../../store/tokens.ts'
import type { Actor } from './actor.ts'

/** What a policy may speak of: an RRset's place. */
export interface Place {
  subname: string
  type: string
}

/**
 * Whether a token with these policies may write this RRset: of the policies that match, the most specific one decides,
 * a domain counting more than a subname, and that more than a type (contract §6.4).
 */
export function mayWrite(policies: Policy[], domainId: number, place: Place): boolean {
  if (policies.length === 0) return true
  let decisive: Policy | undefined
  for (const policy of policies) {
    if (matches(policy, domainId, place) && (decisive === undefined || rank(policy) > rank(decisive))) decisive = policy
  }
  return decisive?.permWrite ?? false
}

function matches(policy: Policy, domainId: number, place: Place): boolean {
  return (
    (policy.domainId === null || policy.domainId === domainId) &&
    (policy.subname === null || policy.subname === place.subname) &&
    (policy.type === null || policy.type === place.type)
  )
}

function rank(policy: Policy): number {
  return 4 * Number(policy.domainId !== null) + 2 * Number(policy.subname !== null) + Number(policy.type !== null)
}

/** @throws Denied if the actor may not write every one of these RRsets (contract §6.5) */
export function authoriseWrites(actor: Pick<Actor, 'policies'>, domainId: number, places: Iterable<Place>): void {
  if (actor.policies.length === 0) return
  for (const place of places) {
    if (!mayWrite(actor.policies, domainId, place)) throw new Denied('Insufficient token permissions.')
  }
}

/** What decides which domains exist for an actor. */
export type Viewer = Pick<Actor, 'accountId' | 'override' | 'policies'>

/** Whether the domain exists for the actor: an override token with policies sees only what they name (contract §3.3). */
export function sees(actor: Viewer, domain: { id: number; ownerId: string }): boolean {
  if (domain.ownerId !== actor.accountId) return false
  if (!actor.override || actor.policies.length === 0) return true
  return actor.policies.some((policy) => policy.domainId === domain.id)
}

/** The domains that an override token with policies sees; undefined: all of the account's (contract §3.3). */
export function visibleDomains(actor: Actor): number[] | undefined {
  if (!actor.override || actor.policies.length === 0) return undefined
  return actor.policies.flatMap((policy) => policy.domainId ?? [])
}
