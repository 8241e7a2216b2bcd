import type { Policy } from './policies.ts'
import { titleOf } from './rows.ts'
import type { Place } from './rrset.ts'

/** An RRset of the account. */
export interface Target {
  domain: string
  subname: string
  type: string
}

/** Whether a token may write an RRset, and the policy that decides; without policies, none does. */
export interface Verdict<P extends Policy> {
  may: boolean
  policy: P | undefined
}

/**
 * Decides as the service does: of the policies that match, the most specific one counts. A domain outweighs subname and
 * type, and a subname outweighs a type (contract §6.4).
 */
export function mayWrite<P extends Policy>(policies: P[], target: Target): Verdict<P> {
  const [policy] = policies
    .filter(({ domain, subname, type }) => {
      return [domain ?? target.domain, subname ?? target.subname, type ?? target.type].every(
        (value, i) => value === [target.domain, target.subname, target.type][i],
      )
    })
    .sort((a, b) => weightOf(b) - weightOf(a))
  return { may: policy?.perm_write ?? policies.length === 0, policy }
}

/** Says that the token of the session, or the role, may not write an RRset. */
export const forbids = (bearer: string, place: Place) => `${bearer} may not write ${titleOf(place)}.`

/** Whether a token may write anything in a domain. */
export function mayWriteIn(policies: Policy[], domain: string): boolean {
  // A policy decides somewhere only if it decides where no more specific one can: at a name and a type that none mentions.
  const may = ({ subname, type }: Pick<Policy, 'subname' | 'type'>) =>
    mayWrite(policies, { domain, subname: subname ?? '?', type: type ?? '?' }).may
  return policies.length === 0 || policies.some(may)
}

function weightOf({ domain, subname, type }: Policy): number {
  return (domain === null ? 0 : 4) + (subname === null ? 0 : 2) + (type === null ? 0 : 1)
}
