import type { RRset } from '../store/rrsets.ts'
import type { Work } from '../slices.ts'
import { suffixes } from './availability.ts'
import type { Change } from './changes.ts'

/**
 * Whether the zone's order, its delegations and the proofs of what it has not must be worked out anew (powerdns.md
 * §1.3): names, delegations or redirections come or go, or something is written at or below a delegation, which
 * PowerDNS takes for authoritative, and signs, until then. Other contents never need it.
 * @param current what there is at the subnames of the changes, and at those above them
 */
export function* changesStructure(current: RRset[], changes: Change[]): Work<boolean> {
  const before = yield* typesBySubname(current)
  const after = yield* typesBySubname(current)
  for (const change of changes) {
    const types = after.get(change.subname) ?? new Set()
    if (change.after === undefined) types.delete(change.type)
    else types.add(change.type)
    after.set(change.subname, types)
    yield
  }
  for (const { subname, type, after: rrset } of changes) {
    if (structure(subname, after.get(subname)) !== structure(subname, before.get(subname))) return true
    if (rrset !== undefined && type !== 'DS' && isDelegated(subname, after)) return true
    yield
  }
  return false
}

/** Whether a delegation stands at a subname or above it; a DS there is the parent's own all the same. */
function isDelegated(subname: string, types: Map<string, Set<string>>): boolean {
  return suffixes(subname).some((place) => place !== '' && types.get(place)?.has('NS'))
}

function* typesBySubname(rrsets: RRset[]): Work<Map<string, Set<string>>> {
  const types = new Map<string, Set<string>>()
  for (const { subname, type } of rrsets) {
    types.set(subname, (types.get(subname) ?? new Set()).add(type))
    yield
  }
  return types
}

/** What of a name's types the zone's order and its denials depend on. */
function structure(subname: string, types = new Set<string>()): string {
  const delegates = types.has('NS') && subname !== ''
  return [types.size > 0, delegates, types.has('DS'), types.has('DNAME')].join()
}
