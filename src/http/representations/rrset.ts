import { LRUCache } from 'lru-cache'
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
  const plain = readPlain(item)
  if (plain !== undefined) return plain
  const key = outline(item)
  if (key === undefined) return readOther(item)
  const known = READ.get(key) ?? Object.freeze(readOther(item))
  READ.set(key, known)
  return known
}

/** What items say that are not plain: a request may have a million of them that are equal. */
const READ = new LRUCache<string, ItemInput>({ max: 5_000 })

/** Characters of the longest texts that are looked for among what is known. */
const SHORT = 100

/** The same for items that say the same; undefined for those that say more than is worth remembering. */
function outline(item: unknown): string | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return typeName(item)
  const { subname, type, ttl, records } = item as Record<string, unknown>
  if (Array.isArray(records)) return undefined
  const texts: string[] = []
  for (const value of [subname, type, ttl, records]) {
    if (typeof value === 'string' && value.length > SHORT) return undefined
    const isScalar = value === undefined || typeof value === 'string' || typeof value === 'number'
    texts.push(isScalar ? JSON.stringify(value) : typeName(value))
  }
  return texts.join()
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
  const input = readFields(item, shape)
  for (const [field, texts] of Object.entries(input.problems)) input.problems[field] = shared(texts)
  return input
}

/** Lists of one text each, as told of items that differ: there are few texts, but there may be millions of items. */
const LISTS = new LRUCache<string, readonly [string]>({ max: 20_000 })

/** The same texts, but those told before are held once. */
function shared(texts: readonly string[]): readonly string[] {
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
