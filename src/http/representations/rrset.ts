import { nameOf } from '../../dns/names.ts'
import { Invalid, NO_PROBLEMS } from '../../errors.ts'
import type { ItemInput } from '../../service/bulk.ts'
import type { Domain } from '../../service/domains.ts'
import type { RRsetInput } from '../../service/rrset-input.ts'
import type { RRset } from '../../service/rrsets.ts'
import { integer, nonBlankText, readFields, text, texts, typeName } from './fields.ts'

const shape = {
  subname: text({ trim: true }),
  type: nonBlankText({ trim: true }),
  ttl: integer(),
  records: texts(),
}

/** What a body says about one RRset (contract §8.1). */
export function readRRset(body: unknown): RRsetInput {
  return readPlain(body) ?? readFields(body, shape)
}

/** Says nothing at all; shared, for a request may have very many of that kind. */
const NOTHING: RRsetInput = { problems: NO_PROBLEMS }

/** The same, at a fraction of time and memory, of most RRsets: those whose members, if they are there, are plain. */
function readPlain(body: unknown): RRsetInput | undefined {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined
  const { subname, type, ttl, records } = body as Record<string, unknown>
  if (type !== undefined && !isPlain(type)) return undefined
  if (subname !== undefined && subname !== '' && !isPlain(subname)) return undefined
  if (ttl !== undefined && !Number.isSafeInteger(ttl)) return undefined
  if (records !== undefined && !(Array.isArray(records) && records.every(isPlain))) return undefined
  if (type === undefined && subname === undefined && ttl === undefined && records === undefined) return NOTHING
  return { subname, type, ttl: ttl as number | undefined, records, problems: NO_PROBLEMS }
}

/** Text that needs no trimming, and with whose shape nothing is wrong. */
function isPlain(value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false
  return value === value.trim() && !value.includes('\0') && value.isWellFormed()
}

/** What an item of a bulk request says (contract §8.7, stages a and b). */
export function readItem(item: unknown): ItemInput {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) {
    return placeless({ non_field_errors: [`Expected a dictionary, but got ${typeName(item)}.`] })
  }
  const problems: Record<string, string[]> = {}
  for (const member of ['subname', 'type']) {
    const value: unknown = Object.hasOwn(item, member) ? (item as Record<string, unknown>)[member] : ''
    if (value === null) problems[member] = ['This field may not be null.']
    else if (typeof value !== 'string') problems[member] = [`Expected a string, but got ${typeName(value)}.`]
  }
  return Object.keys(problems).length > 0 ? placeless(problems) : readRRset(item)
}

/** The few items that are placeless, by what is wrong with them. */
const PLACELESS = new Map<string, ItemInput>()

function placeless(problems: ItemInput['problems']): ItemInput {
  const key = JSON.stringify(problems)
  const known = PLACELESS.get(key) ?? { isPlaceless: true, problems }
  PLACELESS.set(key, known)
  return known
}

/** The items of a bulk request. @throws Invalid if the body is no array */
export function itemsOf(body: unknown): ItemInput[] {
  if (!Array.isArray(body)) throw Invalid.object(`Expected a list of items but got ${typeName(body)}.`)
  return body as ItemInput[]
}

export function presentRRset(domain: Domain, { created, subname, records, ttl, type, touched }: RRset) {
  return { created, domain: domain.name, subname, name: nameOf(domain, subname), records, ttl, type, touched }
}
