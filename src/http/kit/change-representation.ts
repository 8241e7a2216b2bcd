import type { Step } from '../../service/zone/journal.ts'
import type { RRsetState } from '../../service/zone/rrsets.ts'
import { arrayOf, type Component, nullable, object, ref, STRING } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

type State = Pick<RRsetState, 'ttl' | 'records'>

const STATE = representation<State>()(['RRsetState'], {
  ttl: { read: { type: 'integer' }, text: 'In seconds.', example: 3600 },
  records: { read: arrayOf(STRING), text: 'The contents of its records.', example: ['192.0.2.1'] },
})

/** An RRset before and after a write (contract §15.3). */
export const CHANGE = representation<Step>()(['Change'], {
  subname: { read: STRING, text: 'The subname of the RRset; empty at the apex.', example: 'www' },
  type: { read: STRING, text: 'The type of the RRset.', example: 'A' },
  before: {
    read: nullable(ref(STATE.schema)),
    text: 'The RRset before the write; null if the write creates it.',
    from: ({ before }) => presentState(before),
  },
  after: {
    read: nullable(ref(STATE.schema)),
    text: 'The RRset after the write; null if the write deletes it.',
    example: null,
    from: ({ after }) => presentState(after),
  },
})

/** The changes that a write has made, or would make. */
export const CHANGES: Component = { title: 'Changes', ...object({ changes: arrayOf(ref(CHANGE.schema)) }) }

function presentState(state: State | undefined) {
  return state === undefined ? null : STATE.present(state)
}
