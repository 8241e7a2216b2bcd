import { keyOf, type Change, type RRset } from './rrset.ts'

/** The RRsets as they are after these changes. */
export function applied(rrsets: RRset[], changes: Iterable<Omit<Change, 'before'>>): RRset[] {
  const state = new Map(rrsets.map((rrset) => [keyOf(rrset), rrset]))
  for (const { subname, type, after } of changes) {
    if (after === null) state.delete(keyOf({ subname, type }))
    else state.set(keyOf({ subname, type }), { subname, type, ...after })
  }
  return [...state.values()]
}
