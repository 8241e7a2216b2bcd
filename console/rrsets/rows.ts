import type { Edit, Edits, RRsets } from '../records/draft.ts'
import { inOrder } from './order.ts'
import { type Line, linesOf, type Place, shownName, type State } from './rrset.ts'

/** A row of the table: an RRset of the zone, or one that is staged. */
export interface Row extends Place {
  key: string
  /** What the row shows: the staged state, or, for a deletion, what is deleted. */
  state: State
  edit?: Edit
}

/** One row for each RRset, with its edit, and for each staged one, in DNS order. */
export function rowsOf(rrsets: RRsets, edits: Edits): Row[] {
  const rows = new Map<string, Row>()
  for (const [key, { subname, type, ttl, records }] of rrsets)
    rows.set(key, { subname, type, key, state: { ttl, records } })
  for (const [key, edit] of edits) {
    const state = edit.after ?? rows.get(key)?.state ?? edit.base!
    rows.set(key, { subname: edit.subname, type: edit.type, key, state, edit })
  }
  return inOrder(rows.values())
}

/** What an edit will do, in a word. */
export function wordFor({ base, after }: Edit): 'add' | 'delete' | 'change' {
  if (base === null) return 'add'
  return after === null ? 'delete' : 'change'
}

/** The records of an edited RRset, with those that go; undefined if the row shows no such. */
function editedLines({ edit }: Row): Line[] | undefined {
  if (edit === undefined || wordFor(edit) !== 'change') return undefined
  return linesOf({ before: edit.base, after: edit.after })
}

/** How many records a row has to show. All rows of a zone are counted at each key in the filter. */
export function lineCountOf(row: Row): number {
  return (editedLines(row) ?? row.state.records).length
}

/** The records that a row shows; of an edited RRset also what goes, and first what changes, if there are many. */
export function shownLines(row: Row, most: number): Line[] {
  const lines = editedLines(row)
  if (lines === undefined) return row.state.records.map((record) => ({ record, verb: 'kept' }))
  const isKept = ({ verb }: Line) => Number(verb === 'kept')
  return lines.length <= most ? lines : lines.sort((a, b) => isKept(a) - isKept(b))
}

/** The edit of a row that gives it another state; null deletes it. */
export function editOf({ subname, type, state, edit }: Row, after: State | null): Edit {
  return { subname, type, base: edit === undefined ? state : edit.base, after }
}

/** Names a row in sentences and for screen readers: `www A`. */
export function titleOf({ subname, type }: Place): string {
  return `${shownName(subname)} ${type}`
}
