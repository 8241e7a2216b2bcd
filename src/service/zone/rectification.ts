import { withAncestors } from '../../dns/names.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import { NSEC } from '../../nameserver/nameserver.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import type { RRset } from '../../store/zone/rrsets.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import { type Change, growthOf } from './changes.ts'
import type { Publication } from './publication.ts'

/**
 * The maximum of ancestors at which a write looks for delegations and DNAMEs. Beyond it, the write reads all those of the
 * zone, and has the zone rectified.
 */
export const ANCESTORS = 100_000

/**
 * PowerDNS rectifies zones of up to this many RRsets at every publication, because that costs less than the request
 * itself. With LMDB, it rectifies larger zones only for changes that need it (powerdns.md §1.3: 3 to 7 µs per RRset).
 */
export const SMALL_ZONE = 200

/** Types that affect which names are authoritative. */
const STRUCTURAL = ['NS', 'DS', 'DNAME']

/**
 * Reports whether PowerDNS must rectify the zone, whose names do not change yet. With NSEC it need not for names that
 * appear or disappear, unless empty non-terminals do so with them (powerdns.md §1.3). Long RRsets always need it.
 * @param around the RRsets at the subnames of the changes and at their ancestors; undefined: too many to read
 */
export async function needsRectification(
  { system, trx }: Pick<Publication, 'system' | 'trx'>,
  { id, size, denial }: Pick<LockedDomain, 'id' | 'size' | 'denial'>,
  around: RRset[] | undefined,
  changes: Change[],
): Promise<boolean> {
  const { nameserver } = system
  if (nameserver.alwaysRectify || size + growthOf(changes).rrsets <= SMALL_ZONE) return true
  if (around === undefined || changes.some(({ after }) => after !== undefined && nameserver.mustRectify(after)))
    return true
  const { cuts, names } = await inSlices(structuralChanges(around, changes))
  if (cuts || names.length === 0 || denial !== NSEC) return cuts || names.length > 0
  const above = new Set(names.flatMap((name) => withAncestors(name).slice(1)))
  if (names.length + above.size > ANCESTORS || names.some((name) => above.has(name))) return true
  return rrsets.haveNonTerminals(trx, id, names, [...above])
}

/** The changes of a zone's structure for which PowerDNS may have to rectify it (powerdns.md §1.3). */
interface StructuralChanges {
  /**
   * True if delegations, DS or DNAME appear or disappear, or an RRset is written at or below a delegation. PowerDNS
   * treats such an RRset as authoritative and signs it until the zone is rectified.
   */
  cuts: boolean
  /** The subnames that appear or disappear. With LMDB, all other changes never need it. */
  names: string[]
}

/** @param current the RRsets at the subnames of the changes and at their ancestors */
function* structuralChanges(current: RRset[], changes: Change[]): Work<StructuralChanges> {
  const before = new Map<string, Set<string>>()
  for (const { subname, type } of current) {
    before.set(subname, (before.get(subname) ?? new Set()).add(type))
    yield
  }
  const after = yield* typesAfter(before, changes)
  const names: string[] = []
  for (const [subname, types] of after) {
    const former = before.get(subname)
    if (structuralTypes(subname, types) !== structuralTypes(subname, former)) return { cuts: true, names }
    if (types.size > 0 !== (former !== undefined && former.size > 0)) names.push(subname)
    yield
  }
  const delegations = new Set([...before, ...after].flatMap(([name, types]) => (types.has('NS') ? [name] : [])))
  delegations.delete('')
  if (delegations.size === 0) return { cuts: false, names }
  for (const { subname, type, after: rrset } of changes) {
    // A DS at a delegation is authoritative: it belongs to the parent zone.
    if (rrset !== undefined && type !== 'DS' && withAncestors(subname).some((name) => delegations.has(name)))
      return { cuts: true, names }
    yield
  }
  return { cuts: false, names }
}

/** Returns the types of each name that gains or loses some. */
function* typesAfter(before: Map<string, Set<string>>, changes: Change[]): Work<Map<string, Set<string>>> {
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
  return after
}

/** Returns the part of a name's types that denials and signatures depend on. NS at the apex is not a delegation. */
function structuralTypes(subname: string, types: ReadonlySet<string> = new Set()): string {
  return STRUCTURAL.filter((type) => types.has(type) && !(type === 'NS' && subname === '')).join()
}
