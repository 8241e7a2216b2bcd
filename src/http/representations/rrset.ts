import { LRUCache } from 'lru-cache'
import { nameOf } from '../../dns/names.ts'
import { Invalid, NO_PROBLEMS } from '../../errors.ts'
import type { ItemInput } from '../../service/zone/bulk.ts'
import type { Domain } from '../../service/domains/domains.ts'
import type { RRsetInput } from '../../service/zone/rrset-input.ts'
import type { RRset } from '../../service/zone/rrsets.ts'
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
  if (subname === undefined && ttl === undefined && records === undefined) {
    return type === undefined ? NOTHING : { type, problems: NO_PROBLEMS }
  }
  return { subname, type, ttl: ttl as number | undefined, records, problems: NO_PROBLEMS }
}

/** Text that needs no trimming, and with whose shape nothing is wrong. */
function isPlain(value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false
  return value === value.trim() && !value.includes('\0') && value.isWellFormed()
}

/** What an item of a bulk request says (contract §8.7, stages a and b). */
export function readItem(item: unknown): ItemInput {
  const plain = readPlain(item)
  if (plain !== undefined) return plain
  const input = readOther(item)
  // What is right is plain once it is read, and smaller then.
  return Object.keys(input.problems).length > 0 ? shared(input) : readPlain(input)!
}

function readOther(item: unknown): ItemInput {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) {
    return { isPlaceless: true, problems: { non_field_errors: [`Expected a dictionary, but got ${typeName(item)}.`] } }
  }
  const problems: Record<string, string[]> = {}
  for (const member of ['subname', 'type']) {
    const value: unknown = Object.hasOwn(item, member) ? (item as Record<string, unknown>)[member] : ''
    if (value === null) problems[member] = ['This field may not be null.']
    else if (typeof value !== 'string') problems[member] = [`Expected a string, but got ${typeName(value)}.`]
  }
  if (Object.keys(problems).length > 0) return { isPlaceless: true, problems }
  return readFields(item, shape)
}

/** What was wrong last, by its JSON, if that is short: a million items may be wrong in the same ways. */
const WRONG = new LRUCache<string, ItemInput>({ max: 5_000 })
const SHORT = 1_000

/** Lists of one text: items that differ may be told the same nevertheless. */
const LISTS = new LRUCache<string, readonly [string]>({ max: 20_000 })

/** The same input; what is wrong in the same way is held once. */
function shared(input: ItemInput): ItemInput {
  const json = JSON.stringify(input)
  const known = WRONG.get(json)
  if (known !== undefined) return known
  for (const [field, texts] of Object.entries(input.problems)) input.problems[field] = sharedTexts(texts)
  if (json.length <= SHORT) WRONG.set(json, input)
  return input
}

function sharedTexts(texts: readonly string[]): readonly string[] {
  const lists = texts.map((text) => {
    const list = LISTS.get(text) ?? ([text] as const)
    LISTS.set(text, list)
    return list
  })
  return lists.length === 1 ? lists[0]! : lists.map(([text]) => text)
}

/** The items of a bulk request. @throws Invalid if the body is no array */
export function itemsOf(body: unknown): ItemInput[] {
  if (!Array.isArray(body)) throw Invalid.object(`Expected a list of items but got ${typeName(body)}.`)
  return body as ItemInput[]
}

export function presentRRset(domain: Domain, { created, subname, records, ttl, type, touched }: RRset) {
  return { created, domain: domain.name, subname, name: nameOf(domain, subname), records, ttl, type, touched }
}
