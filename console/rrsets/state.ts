import { type Change, type RRset, rrsetKey } from './rrset.ts'

/** The RRsets as they are after these changes. */
export function applied(rrsets: RRset[], changes: Iterable<Omit<Change, 'before'>>): RRset[] {
  const state = new Map(rrsets.map((rrset) => [rrsetKey(rrset), rrset]))
  for (const { subname, type, after } of changes) {
    if (after === null) state.delete(rrsetKey({ subname, type }))
    else state.set(rrsetKey({ subname, type }), { subname, type, ...after })
  }
  return [...state.values()]
}
