import { inOrder } from '../rrsets/order.ts'
import { type Place, type RRset, rrsetKey, type State } from '../rrsets/rrset.ts'

/** A staged edit of one RRset: how it was when it was edited, and how it shall be. Null: there is none. */
export interface Edit extends Place {
  base: State | null
  after: State | null
}

/** The staged edits of a domain, by place. */
export type Edits = ReadonlyMap<string, Edit>

/** The RRsets of a domain, by place. */
export type RRsets = ReadonlyMap<string, RRset>

/** RRsets by place. */
export function byPlace(rrsets: RRset[]): RRsets {
  return new Map(rrsets.map((rrset) => [rrsetKey(rrset), rrset]))
}

/** Whether two states are the same; the order of records does not count (contract §8.1). */
export function isSame(one: State | null, other: State | null): boolean {
  if (one === null || other === null) return one === other
  return one.ttl === other.ttl && sameRecords(one.records, other.records)
}

function sameRecords(ones: string[], others: string[]): boolean {
  const found = new Set(ones)
  return ones.length === others.length && others.every((record) => found.has(record))
}

/** Adds edits in place of those of their RRsets; an edit that changes nothing takes the one of its RRset away. */
export function staged(edits: Edits, changes: Edit[]): Edits {
  const next = new Map(edits)
  for (const edit of changes) {
    if (isSame(edit.base, edit.after)) next.delete(rrsetKey(edit))
    else next.set(rrsetKey(edit), edit)
  }
  return next
}

/** An edit of an RRset that somebody else has changed in another way meanwhile. */
export interface Collision {
  edit: Edit
  theirs: State | null
}

/**
 * Puts edits upon the present RRsets. Those that somebody else has made, too, are gone. Those of RRsets that somebody else has
 * changed in another way collide: they stay as they are until `staged` has the choice.
 */
export function merge(edits: Edits, rrsets: RRsets): { edits: Edits; collisions: ReadonlyMap<string, Collision> } {
  const kept = new Map<string, Edit>()
  const collisions = new Map<string, Collision>()
  for (const [key, edit] of edits) {
    const theirs = rrsets.get(key) ?? null
    if (isSame(theirs, edit.after)) continue
    kept.set(key, edit)
    if (!isSame(theirs, edit.base)) collisions.set(key, { edit, theirs })
  }
  return { edits: kept, collisions }
}

/** An item of a bulk PATCH (contract §8.7). */
export interface Item extends Place {
  ttl?: number
  records?: string[]
}

/** The body of the bulk PATCH that makes the edits, in DNS order. What an edit does not change is left out. */
export function bulkBody(edits: Edits): Item[] {
  return inOrder(edits.values()).map(({ subname, type, base, after }) => ({
    subname,
    type,
    ...(after !== null && after.ttl !== base?.ttl && { ttl: after.ttl }),
    ...(!(after !== null && base !== null && sameRecords(base.records, after.records)) && {
      records: after?.records ?? [],
    }),
  }))
}
