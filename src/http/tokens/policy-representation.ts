import type { StoredPolicy } from '../../service/tokens/token-policies.ts'
import { boolean, nonBlankText, text } from '../fields/fields.ts'
import { SUBNAME, SUBNAME_PATTERN, TYPE } from '../fields/patterns.ts'
import { UUID } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

/** A domain's name, which is never empty. */
const domain = text({ trim: true, otherwise: 'Invalid value.' })
  .meta({ accepted: { type: 'string' } })
  .nullable()
  .transform((name: unknown) => (name === '' ? null : name))

/** A policy of a token (contract §6.1). */
export const POLICY = representation<StoredPolicy>()(['Policy'], {
  id: { read: UUID, text: 'Identifies the policy.' },
  domain: { write: domain, text: 'The name of a domain, or null: any.', example: 'example.com' },
  subname: {
    write: text({ trim: true }).nullable().meta({ accepted: SUBNAME }),
    text: 'A subname, empty at the apex, or null: any, unless there is a pattern. New policies without a pattern need it.',
    from: ({ subname, isPattern }) => (isPattern ? null : subname),
    example: 'www',
  },
  subname_pattern: {
    write: text({ trim: true }).nullable().meta({ accepted: SUBNAME_PATTERN }),
    text: 'A pattern of subnames, in place of `subname`: `*` is one label, `**` one or more.',
    example: null,
    from: ({ subname, isPattern }) => (isPattern ? subname : null),
  },
  type: {
    write: nonBlankText({ trim: true }).nullable().meta({ accepted: TYPE }),
    text: 'A record type, or null: any.',
    example: 'A',
  },
  perm_write: { write: boolean(), text: 'Whether the token may write these RRsets.', example: true },
})
