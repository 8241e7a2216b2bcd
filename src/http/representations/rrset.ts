import { nameOf } from '../../dns/names.ts'
import { Invalid } from '../../errors.ts'
import { COLLECTION_ITEMS } from '../../limits.ts'
import type { ItemInput } from '../../service/zone/bulk.ts'
import type { Domain } from '../../service/domains/domains.ts'
import type { RRsetInput } from '../../service/zone/rrset-input.ts'
import type { RRset } from '../../service/zone/rrsets.ts'
import { mapInSlices } from '../../slices.ts'
import { integer, nonBlankText, NULL, readFields, text, texts, typeName } from './fields.ts'

const shape = {
  subname: text({ trim: true }),
  type: nonBlankText({ trim: true }),
  ttl: integer(),
  records: texts(),
}

/** Reads one RRset (contract §8.1). */
export function readRRset(body: unknown): RRsetInput {
  return readPlain(body) ?? readFields(body, shape)
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

/** Text that `nonBlankText` would return unchanged. */
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

export function presentRRset(domain: Domain, { created, subname, records, ttl, type, touched }: RRset) {
  return { created, domain: domain.name, subname, name: nameOf(domain, subname), records, ttl, type, touched }
}
