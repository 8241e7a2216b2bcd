import { nameOf, withAncestors } from '../../dns/names.ts'
import type { Work } from '../../flow/slices.ts'
import type { RRsetKey } from '../../store/zone/rrsets.ts'
import { type Change, rrsetKey } from './changes.ts'

/** An RRset that a write creates although it would be occluded, or occlude another (contract §8.10). */
export interface Occlusion extends RRsetKey {
  text: string
}

/** Types that may not exist below a delegation. Addresses there are glue; other types are occluded without harm. */
const DELEGATING: ReadonlySet<string> = new Set(['NS', 'DS'])

/** Reports whether an RRset occludes others below it: it is a delegation or a DNAME. */
export function isCut({ subname, type }: RRsetKey): boolean {
  return type === 'DNAME' || (type === 'NS' && subname !== '')
}

/** Returns the RRsets that the changes create. */
export function created(changes: readonly Change[]): Change[] {
  return changes.filter(({ before, after }) => before === undefined && after !== undefined)
}

/** The RRsets that the changes delete. */
export function deleted(changes: readonly Change[]): Change[] {
  return changes.filter(({ after }) => after === undefined)
}

/**
 * Finds the RRsets that a write would newly occlude. Changes of an RRset that is already occluded are allowed.
 * @param added the RRsets that the write creates
 * @param removed those that it deletes
 * @param present RRsets of the zone before the write: at least the cuts above the created RRsets, and one that stays
 *   below each created cut that would occlude some
 */
export function* occlusions(
  domain: { name: string },
  added: readonly RRsetKey[],
  removed: readonly RRsetKey[],
  present: readonly RRsetKey[],
): Work<Occlusion[]> {
  const newCuts = new Map(added.filter(isCut).map((cut) => [rrsetKey(cut), cut]))
  const cuts = new Map<string, RRsetKey>(newCuts)
  const gone = new Set<string>()
  for (const rrset of removed) {
    gone.add(rrsetKey(rrset))
    yield
  }
  for (const rrset of present) {
    if (isCut(rrset) && !gone.has(rrsetKey(rrset))) cuts.set(rrsetKey(rrset), rrset)
    yield
  }
  const found: Occlusion[] = []
  for (const rrset of cuts.size > 0 ? added : []) {
    const cut = cutAbove(rrset, cuts)
    if (cut !== undefined) found.push(occlusionOf(domain, rrset, { rrset, cut }))
    yield
  }
  for (const rrset of newCuts.size > 0 ? present : []) {
    const cut = gone.has(rrsetKey(rrset)) ? undefined : cutAbove(rrset, newCuts)
    // The write is rejected for the first RRset that each cut would occlude.
    if (cut !== undefined && newCuts.delete(rrsetKey(cut))) found.push(occlusionOf(domain, cut, { rrset, cut }))
    yield
  }
  return found
}

/** Returns the lowest of the cuts that occlude an RRset. */
function cutAbove({ subname, type }: RRsetKey, cuts: ReadonlyMap<string, RRsetKey>): RRsetKey | undefined {
  if (subname === '') return undefined
  for (const above of [...withAncestors(subname).slice(1), '']) {
    const delegation = DELEGATING.has(type) ? cuts.get(rrsetKey({ subname: above, type: 'NS' })) : undefined
    const cut = cuts.get(rrsetKey({ subname: above, type: 'DNAME' })) ?? delegation
    if (cut !== undefined) return cut
  }
  return undefined
}

/** @param refused the one of the two that the write creates */
function occlusionOf(
  domain: { name: string },
  { subname, type }: RRsetKey,
  { rrset, cut }: { rrset: RRsetKey; cut: RRsetKey },
): Occlusion {
  const [below, above] = [rrset, cut].map((key) => `${nameOf(domain, key.subname)} ${key.type}`)
  const rule = cut.type === 'NS' ? 'No NS or DS is allowed below a delegation.' : 'Nothing is allowed below a DNAME.'
  return { subname, type, text: `${below} would be occluded by ${above}. (${rule})` }
}
