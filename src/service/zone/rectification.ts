import type { RRset } from '../../store/rrsets.ts'
import type { Work } from '../../slices.ts'
import { withAncestors } from '../../dns/names.ts'
import type { Change } from './changes.ts'

/**
 * Whether the zone's order, its delegations and the proofs of what it has not must be worked out anew (powerdns.md
 * §1.3): names, delegations or redirections come or go, or something is written at or below a delegation, which
 * PowerDNS takes for authoritative, and signs, until then. Other contents never need it.
 * @param current what there is at the subnames of the changes, and at those above them
 */
export function* changesStructure(current: RRset[], changes: Change[]): Work<boolean> {
  /** The sums of the weights of a subname's types, where types come or go. */
  const before = new Map<string, number>()
  /** How much these grow. */
  const growth = new Map<string, number>()
  /** Where a delegation stands in the end. */
  const delegations = new Set<string>()

  for (const change of changes) {
    if (step(change) !== 0) before.set(change.subname, 0)
    yield
  }
  for (const { subname, type } of current) {
    const sum = before.get(subname)
    if (sum !== undefined) before.set(subname, sum + weight(type))
    if (type === 'NS' && subname !== '') delegations.add(subname)
    yield
  }
  for (const change of changes) {
    const { subname, type } = change
    if (step(change) !== 0) growth.set(subname, (growth.get(subname) ?? 0) + step(change) * weight(type))
    if (type === 'NS' && subname !== '') {
      if (change.after === undefined) delegations.delete(subname)
      else delegations.add(subname)
    }
    yield
  }
  for (const [subname, sum] of before) {
    if (structure(subname, sum + growth.get(subname)!) !== structure(subname, sum)) return true
    yield
  }
  if (delegations.size === 0) return false
  for (const { subname, type, after: rrset } of changes) {
    // A DS at a delegation is the parent's own.
    if (rrset !== undefined && type !== 'DS' && withAncestors(subname).some((place) => delegations.has(place)))
      return true
    yield
  }
  return false
}

/** How many RRsets more there are through a change. */
function step({ before, after }: Change): number {
  return Number(after !== undefined) - Number(before !== undefined)
}

/** Types that matter by themselves, as bits. */
const BITS = new Map([['NS', 1], ['DS', 2], ['DNAME', 4]]) // prettier-ignore
const ALL = 7

/** A subname has a type once at most, so a sum of weights tells how many types there are, and which of those. */
function weight(type: string): number {
  return ALL + 1 + (BITS.get(type) ?? 0)
}

/** What of a subname's types the zone's order and its denials depend on. */
function structure(subname: string, sum: number): number {
  // NS at the apex is no delegation.
  return Math.min(sum & ~ALL, ALL + 1) | (sum & (subname === '' ? ALL & ~BITS.get('NS')! : ALL))
}
