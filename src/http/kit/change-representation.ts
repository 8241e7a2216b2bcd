import type { PtrProposal } from '../../service/reverse/ptr-proposals.ts'
import type { RRsetState } from '../../service/rrsets/rrsets.ts'
import type { Step } from '../../service/zone/journal.ts'
import { arrayOf, type Component, described, nullable, object, ref, STRING } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

const STATE = representation<Pick<RRsetState, 'ttl' | 'records'>>()(['RRsetState'], {
  ttl: { read: { type: 'integer' }, text: 'In seconds.', example: 3600 },
  records: { read: arrayOf(STRING), text: 'The contents of its records.', example: ['192.0.2.1'] },
})

const ROWS = {
  subname: { read: STRING, text: 'The subname of the RRset; empty at the apex.', example: 'www' },
  type: { read: STRING, text: 'The type of the RRset.', example: 'A' },
  before: {
    read: nullable(ref(STATE.schema)),
    text: 'The RRset before the write; null if the write creates it.',
    from: ({ before }: Step) => (before === undefined ? null : STATE.present(before)),
  },
  after: {
    read: nullable(ref(STATE.schema)),
    text: 'The RRset after the write; null if the write deletes it.',
    example: null,
    from: ({ after }: Step) => (after === undefined ? null : STATE.present(after)),
  },
}

/** An RRset before and after a write (contract §15.3). */
export const CHANGE = representation<Step>()(['Change'], ROWS)

/** A PTR RRset that would fit a write (contract §15.3). */
export const PTR_PROPOSAL = representation<PtrProposal>()(['PtrProposal'], {
  domain: { read: STRING, text: 'The name of the reverse domain.', example: '2.0.192.in-addr.arpa' },
  etag: {
    read: STRING,
    text: 'The tag of that domain, for `If-Match` of the write that carries out its proposals.',
    example: '"UhbV3IVPZOoOUn0BQzkZVw"',
    from: ({ tag }) => `"${tag}"`,
  },
  ...ROWS,
  replaces: {
    read: arrayOf(STRING),
    text: 'The names that lose their PTR, although the write does not take the address from them.',
    example: ['mail.example.com.'],
  },
})

/** The changes that a write has made, or would make. */
const ofProposals = described(arrayOf(ref(PTR_PROPOSAL.schema)), 'PTR RRsets that would fit, if a dry run is for them.')
export const CHANGES: Component = {
  title: 'Changes',
  ...object({ changes: arrayOf(ref(CHANGE.schema)), ptr: ofProposals }, ['ptr']),
}
