import { Invalid } from '../../errors.ts'
import { ACTIONS, type Entry, EVENTS, type When } from '../../service/domains/domain-history.ts'
import { PHASES } from '../../service/rollovers/rollovers.ts'
import { readTime } from '../../time.ts'
import { integer, time } from '../fields/fields.ts'
import { VERSION_INPUT } from '../fields/patterns.ts'
import {
  arrayOf,
  BOOLEAN,
  type Component,
  COUNT,
  described,
  nullable,
  object,
  oneOf,
  ref,
  STRING,
  TIME,
  UUID,
  VERSION,
} from '../fields/schema.ts'
import { form, representation } from '../fields/table.ts'
import { AUTHOR_ROWS } from '../kit/author-rows.ts'
import { CHANGE } from '../kit/change-representation.ts'

/** An entry of a domain's history (contract §15.5). */
export const ENTRY = representation<Entry>()(['Entry'], {
  id: { read: UUID, text: 'Identifies the entry.' },
  created: { read: TIME, text: 'The time of the write.' },
  version: { read: VERSION, text: "The domain's version since the write. It grows from entry to entry." },
  ...AUTHOR_ROWS,
  request_id: {
    read: nullable(STRING),
    text: 'The `X-Request-Id` of the response to the write.',
    example: 'deploy-42',
  },
  message: {
    read: nullable(STRING),
    text: 'Why, in the words of who wrote; null if they did not say.',
    example: 'Ticket 4711: move the mail to the new host',
  },
  count: { read: COUNT, text: 'The number of changed RRsets.', example: 1 },
  event: {
    read: nullable(oneOf(...EVENTS)),
    text:
      'What happened to the domain itself: the changed RRsets came or went with it, and it cannot be undone. null for ' +
      'other entries.',
    example: null,
  },
  rollover: {
    read: nullable(object({ action: oneOf(...ACTIONS), phase: nullable(oneOf(...PHASES)) })),
    text:
      'What happened to the replacement of the keys, and its phase since then, null if it ended; then no RRset changed. ' +
      'null for other sources.',
    example: null,
  },
  trimmed: {
    read: BOOLEAN,
    text: "Whether older entries went before their time, because the histories of the account's domains were too large.",
    example: false,
  },
  changes: {
    read: nullable(arrayOf(ref(CHANGE.schema))),
    text: 'The changes; null in a list if they are larger than about 2 KiB.',
    from: ({ changes }) => changes && changes.map((change) => CHANGE.present(change)),
  },
})

const FORM = form('RestoreInput', [], {
  at: { write: time(), text: 'A time.', example: '2026-01-31T12:00:00.000000Z' },
  version: {
    write: integer().meta({ accepted: VERSION_INPUT }),
    text: 'A version of the domain, instead of a time.',
  },
})

/** The wanted state of a domain: `at` or `version`. */
export const WHEN: Component = {
  ...FORM.schema,
  oneOf: [{ required: ['at'] }, { required: ['version'] }],
  examples: [{ at: '2026-01-31T12:00:00.000000Z' }],
}

/** Reads the wanted state of a domain. @throws Invalid */
export function readWhen(body: unknown): When {
  const { at, version } = FORM.read(body)
  if ((at === undefined) === (version === undefined)) throw Invalid.object('Give either at or version.')
  return version === undefined ? { at: readTime(at!)! } : { version }
}

/** The reason for the rejection of an undo or a restoration, perhaps with the RRsets in the way. */
export const OBSTRUCTED: Component = {
  title: 'Obstruction',
  ...object(
    {
      detail: described(STRING, 'The reason, for people.', 'Later changes are in the way.'),
      conflicts: described(
        arrayOf(object({ subname: { ...STRING, examples: ['www'] }, type: { ...STRING, examples: ['A'] } })),
        'The RRsets with later changes.',
      ),
    },
    ['conflicts'],
  ),
}
