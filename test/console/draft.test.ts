import test from 'ava'
import { problemsByPlace } from '../../console/api/problems.ts'
import { bulkBody, byPlace, type Edit, type Edits, merge, type RRsets, staged } from '../../console/records/draft.ts'
import { rowsOf, shownLines, wordFor } from '../../console/rrsets/rows.ts'
import { type RRset, rrsetKey, type State } from '../../console/rrsets/rrset.ts'
import { applied } from '../../console/rrsets/state.ts'

const state = (ttl: number, ...records: string[]): State => ({ ttl, records })
const ONE = state(3600, '192.0.2.1')
const TWO = state(3600, '192.0.2.2')
const THREE = state(3600, '192.0.2.3')

const edit = (base: State | null, after: State | null, subname = 'www'): Edit => ({ subname, type: 'A', base, after })
const editsOf = (...edits: Edit[]): Edits => staged(new Map(), edits)
const rrsetsOf = (...rrsets: RRset[]): RRsets => byPlace(rrsets)
const www = (found: State | null): RRsets =>
  rrsetsOf(...(found === null ? [] : [{ subname: 'www', type: 'A', ...found }]))

test('an edit replaces the one of its RRset; one that changes nothing takes it away', (t) => {
  t.deepEqual([...editsOf(edit(ONE, TWO), edit(ONE, THREE)).values()], [edit(ONE, THREE)])
  t.is(editsOf(edit(ONE, TWO), edit(ONE, ONE)).size, 0)
  t.is(editsOf(edit(state(60, 'a', 'b'), state(60, 'b', 'a'))).size, 0)
  t.is(editsOf(edit(null, ONE), edit(null, null)).size, 0)
  t.is(editsOf(edit(state(60, 'a', 'a'), state(60, 'a', 'b'))).size, 1)
})

/** How the RRset was, how it shall be, how it is now, and what becomes of the edit. */
const merges: [base: State | null, after: State | null, theirs: State | null, outcome: 'kept' | 'gone' | 'collides'][] =
  [
    [ONE, TWO, ONE, 'kept'],
    [ONE, TWO, TWO, 'gone'],
    [ONE, TWO, THREE, 'collides'],
    [ONE, TWO, null, 'collides'],
    [ONE, TWO, state(60, ...ONE.records), 'collides'],
    [ONE, null, ONE, 'kept'],
    [ONE, null, null, 'gone'],
    [ONE, null, THREE, 'collides'],
    [null, TWO, null, 'kept'],
    [null, TWO, TWO, 'gone'],
    [null, TWO, ONE, 'collides'],
  ]

test('edits are put upon what others have changed', (t) => {
  for (const [base, after, theirs, outcome] of merges) {
    const { edits, collisions } = merge(editsOf(edit(base, after)), www(theirs))
    t.deepEqual([edits.size, collisions.size], { kept: [1, 0], gone: [0, 0], collides: [1, 1] }[outcome])
    const other = edit(ONE, TWO, 'other')
    // Those of other RRsets do not matter.
    const both = merge(
      editsOf(edit(base, after), other),
      new Map([...www(theirs), ...rrsetsOf({ subname: 'other', type: 'A', ...ONE })]),
    )
    t.deepEqual(both.edits.get(rrsetKey(other)), other)
    t.deepEqual([...both.collisions], [...collisions])
  }
})

test('the choice of yours is an edit upon theirs', (t) => {
  const { edits, collisions } = merge(editsOf(edit(ONE, TWO)), www(THREE))
  const [collision] = collisions.values()
  const chosen = staged(edits, [{ ...collision!.edit, base: collision!.theirs }])
  t.is(merge(chosen, www(THREE)).collisions.size, 0)
  t.deepEqual(applied([...www(THREE).values()], chosen.values()), [...www(TWO).values()])
})

test('the bulk body has the edits in DNS order, and of each only what it changes', (t) => {
  const edits = editsOf(
    edit(ONE, null, 'z'),
    edit(null, ONE, ''),
    edit(ONE, { ...ONE, ttl: 60 }, 'b.a'),
    edit(ONE, TWO, 'a'),
  )
  t.deepEqual(bulkBody(edits), [
    { subname: '', type: 'A', ...ONE },
    { subname: 'a', type: 'A', records: TWO.records },
    { subname: 'b.a', type: 'A', ttl: 60 },
    { subname: 'z', type: 'A', records: [] },
  ])
})

test('problems of a bulk write come back to their places', (t) => {
  const items = ['a', 'b', 'c'].map((subname) => ({ subname, type: 'A' }))
  const body = [{}, { ttl: ['Too low.'], records: ['Too many.', 'Too long.'] }, { non_field_errors: ['Bad.'] }]
  t.deepEqual(
    [...problemsByPlace(items, body)!],
    [
      ['b A', ['ttl: Too low.', 'records: Too many.', 'records: Too long.']],
      ['c A', ['Bad.']],
    ],
  )
  t.is(problemsByPlace(items, { detail: 'Precondition failed.' }), undefined)
})

test('there is a row for each RRset and each edit', (t) => {
  const rrsets = new Map([...www(ONE), ...rrsetsOf({ subname: '', type: 'NS', ttl: 60, records: ['a.'] })])
  const rows = rowsOf(rrsets, editsOf(edit(ONE, null), edit(null, TWO, 'a')))
  t.deepEqual(
    rows.map(({ key, state: shown, edit: own }) => [key, shown.records[0], own && wordFor(own)]),
    [
      [' NS', 'a.', undefined],
      ['a A', '192.0.2.2', 'add'],
      ['www A', '192.0.2.1', 'delete'],
    ],
  )
})

test('the row of an edited RRset shows what comes and what goes; first what changes, if there are many', (t) => {
  const shown = (base: State | null, after: State | null) => {
    const [row] = rowsOf(www(base), editsOf(edit(base, after)))
    return shownLines(row!, 3).map(({ record, verb }) => `${verb} ${record}`)
  }
  t.deepEqual(shown(ONE, TWO), ['removed 192.0.2.1', 'added 192.0.2.2'])
  t.deepEqual(shown(state(60, 'a', 'b'), state(60, 'a', 'c')), ['kept a', 'removed b', 'added c'])
  t.deepEqual(shown(state(60, 'a', 'b', 'c'), state(60, 'a', 'b', 'c', 'd')), ['added d', 'kept a', 'kept b', 'kept c'])
  t.deepEqual(shown(ONE, state(60, ...ONE.records)), ['kept 192.0.2.1'])
  t.deepEqual(shown(null, TWO), ['kept 192.0.2.2'])
  t.deepEqual(shown(ONE, null), ['kept 192.0.2.1'])
})
