import { withAncestors } from '../../dns/names.ts'
import type { Work } from '../../slices.ts'
import type { RRset } from '../../store/rrsets.ts'
import type { Change } from './changes.ts'

/** Types that affect which names are authoritative. */
const STRUCTURAL = ['NS', 'DS', 'DNAME']

/**
 * Whether PowerDNS must rectify the zone for these changes (powerdns.md §1.3): names, delegations, DS or DNAME appear
 * or disappear, or an RRset is written at or below a delegation. PowerDNS treats such an RRset as authoritative and
 * signs it until the zone is rectified. With LMDB, other changes never need it.
 * @param current the RRsets at the subnames of the changes and at their ancestors
 */
export function* needsRectification(current: RRset[], changes: Change[]): Work<boolean> {
  const before = new Map<string, Set<string>>()
  for (const { subname, type } of current) {
    before.set(subname, (before.get(subname) ?? new Set()).add(type))
    yield
  }
  const after = new Map<string, Set<string>>()
  for (const { subname, type, before: old, after: rrset } of changes) {
    // Most changes replace an RRset, so the types of the name stay.
    if (old === undefined || rrset === undefined) {
      const types = after.get(subname) ?? new Set(before.get(subname))
      if (rrset === undefined) types.delete(type)
      else types.add(type)
      after.set(subname, types)
    }
    yield
  }
  for (const [subname, types] of after) {
    if (structuralTypes(subname, types) !== structuralTypes(subname, before.get(subname))) return true
    yield
  }
  const delegations = new Set([...before, ...after].flatMap(([name, types]) => (types.has('NS') ? [name] : [])))
  delegations.delete('')
  if (delegations.size === 0) return false
  for (const { subname, type, after: rrset } of changes) {
    // A DS at a delegation is authoritative: it belongs to the parent zone.
    if (rrset !== undefined && type !== 'DS' && withAncestors(subname).some((name) => delegations.has(name)))
      return true
    yield
  }
  return false
}

/** The part of a name's types that the NSEC3 chain and the signatures depend on. NS at the apex is not a delegation. */
function structuralTypes(subname: string, types: ReadonlySet<string> = new Set()): string {
  const structural = STRUCTURAL.filter((type) => types.has(type) && !(type === 'NS' && subname === ''))
  return [types.size > 0, ...structural].join()
}
