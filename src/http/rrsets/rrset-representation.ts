import { nameOf } from '../../dns/names.ts'
import { Invalid } from '../../errors.ts'
import { mapInSlices } from '../../flow/slices.ts'
import { COLLECTION_ITEMS, TTL_MAX } from '../../limits.ts'
import type { Domain } from '../../service/domains/domains.ts'
import type { ItemInput } from '../../service/rrsets/bulk.ts'
import type { RRset } from '../../service/rrsets/rrsets.ts'
import type { RRsetInput } from '../../service/zone/rrset-input.ts'
import { integer, nonBlankText, NULL, text, texts, typeName } from '../fields/fields.ts'
import { RRSET_TYPE, SUBNAME, TTL } from '../fields/patterns.ts'
import { STRING, TIME } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

/** An RRset of a domain (contract §8.1). */
export const RRSET = representation<RRset, Pick<Domain, 'name'>>()(['RRset'], {
  created: { read: TIME, text: 'The time of its creation.' },
  domain: { read: STRING, text: 'The domain.', example: 'example.com', from: (_, { name }) => name },
  subname: {
    writeOnce: text({ trim: true }).meta({ accepted: SUBNAME }),
    text: 'The part of the name before the domain, in lower case; empty at the apex.',
    example: 'www',
  },
  name: {
    read: STRING,
    text: 'The full name, with final dot.',
    example: 'www.example.com.',
    from: ({ subname }, domain) => nameOf(domain, subname),
  },
  records: {
    write: texts(),
    text:
      'The contents of the records, in presentation format (RFC 1035 §5.1), with absolute names. Responses have ' +
      'their canonical forms. In requests that change an RRset, an empty array deletes it.',
    example: ['192.0.2.1', '192.0.2.2'],
  },
  ttl: {
    write: integer().meta({ accepted: TTL }),
    text: `In seconds, from the domain's \`minimum_ttl\` to ${TTL_MAX}.`,
    example: 3600,
  },
  type: {
    writeOnce: nonBlankText({ trim: true }).meta({ accepted: RRSET_TYPE }),
    text: 'The record type, in upper case.',
    example: 'A',
  },
  touched: { read: TIME, text: 'The time of the last write, even without a change.' },
})

/** Reads one RRset (contract §8.1). */
export function readRRset(body: unknown): RRsetInput {
  return readPlain(body) ?? RRSET.read(body)
}

/** Reads most RRsets, those with only valid and trimmed members, in a tenth of the time. */
function readPlain(body: unknown): RRsetInput | undefined {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined
  const { subname, type, ttl, records } = body as Record<string, unknown>
  if (type !== undefined && !isPlain(type)) return undefined
  if (subname !== undefined && subname !== '' && !isPlain(subname)) return undefined
  if (ttl !== undefined && !Number.isSafeInteger(ttl)) return undefined
  if (records !== undefined && !(Array.isArray(records) && records.every(isPlain))) return undefined
  return { subname, type, ttl: ttl as number | undefined, records, problems: {} }
}

/** Reports whether this is text that `nonBlankText` would return unchanged. */
function isPlain(value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false
  return value === value.trim() && !value.includes('\0') && value.isWellFormed()
}

/** Reads a bulk request. @throws Invalid if the body is not an array, or has too many items */
export async function readItems(body: unknown): Promise<ItemInput[]> {
  if (!Array.isArray(body)) throw Invalid.object(`Expected a list of items but got ${typeName(body)}.`)
  if (body.length > COLLECTION_ITEMS) {
    throw Invalid.object(`Ensure this request has no more than ${COLLECTION_ITEMS} items.`)
  }
  return mapInSlices(body, readItem)
}

/** Reads one item of a bulk request (contract §8.7, stages a and b). */
function readItem(item: unknown): ItemInput {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) {
    return { isMalformed: true, problems: { non_field_errors: [`Expected a dictionary, but got ${typeName(item)}.`] } }
  }
  const problems: Record<string, string[]> = {}
  for (const member of ['subname', 'type']) {
    const value: unknown = Object.hasOwn(item, member) ? (item as Record<string, unknown>)[member] : ''
    if (value === null) problems[member] = [NULL]
    else if (typeof value !== 'string') problems[member] = [`Expected a string, but got ${typeName(value)}.`]
  }
  return Object.keys(problems).length > 0 ? { isMalformed: true, problems } : readRRset(item)
}
