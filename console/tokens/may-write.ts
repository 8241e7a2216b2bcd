import { patternLike, shapeOf } from '../../src/dns/subname-patterns.ts'
import { titleOf } from '../rrsets/rows.ts'
import type { Place } from '../rrsets/rrset.ts'
import type { Policy } from './policies.ts'

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
 * Decides as the service does: of the policies that match, the most specific one counts. A domain outweighs the rest, a
 * subname a pattern and a type, and a pattern a type (contract §6.4).
 */
export function mayWrite<P extends Policy>(policies: P[], target: Target): Verdict<P> {
  const [policy] = policies
    .filter(({ domain, subname, subname_pattern: pattern, type }) => {
      return (
        (domain ?? target.domain) === target.domain &&
        (subname ?? target.subname) === target.subname &&
        (type ?? target.type) === target.type &&
        (pattern == null || patternLike(pattern, target.subname) === pattern)
      )
    })
    .sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1))
  return { may: policy?.perm_write ?? policies.length === 0, policy }
}

/** Says that the token of the session, or the role, may not write an RRset. */
export const forbids = (bearer: string, place: Place) => `${bearer} may not write ${titleOf(place)}.`

/** Whether a token may write anything in a domain. */
export function mayWriteIn(policies: Policy[], domain: string): boolean {
  const may = (policy: Policy) => {
    const type = policy.type ?? '?'
    return (
      policy.perm_write &&
      namesFor(policy, policies).some((subname) => mayWrite(policies, { domain, subname, type }).may)
    )
  }
  return policies.length === 0 || policies.some(may)
}

/**
 * Names at which a policy decides if it does anywhere, because no more specific one can: with labels that none mentions.
 * `**` is any number of them, up to one more than the longest pattern has; a policy for any name is for the apex, too.
 */
function namesFor({ subname, subname_pattern: pattern }: Policy, policies: Policy[]): string[] {
  if (subname !== null) return [subname]
  const longest = Math.max(...policies.map((policy) => policy.subname_pattern?.split('.').length ?? 0))
  const many = Array.from({ length: longest + 1 }, (_, more) => `?${'.?'.repeat(more)}`)
  return pattern == null ? ['', ...many] : many.map((labels) => pattern.replace('**', labels).replaceAll('*', '?'))
}

/** What sorts policies that match an RRset, the most specific first: no rank of such a policy begins like that of another. */
function rankOf({ domain, subname, subname_pattern: pattern, type }: Policy): string {
  const name = subname !== null ? '0' : pattern == null ? '2' : `1${shapeOf(pattern)}`
  return [domain === null, name, type === null].join()
}
