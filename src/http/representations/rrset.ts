import { nameOf } from '../../dns/names.ts'
import { Invalid } from '../../errors.ts'
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

/** Shared, for a request may have very many RRsets. */
const NONE: RRsetInput['problems'] = Object.freeze({})

/** Text that needs no trimming, and holds nothing that could be wrong with its shape. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/

/** The same, at a fraction of the cost, of most RRsets: those whose members are all plain. */
function readPlain(body: unknown): RRsetInput | undefined {
  if (body === null || typeof body !== 'object') return undefined
  const { subname, type, ttl, records } = body as Record<string, unknown>
  if (typeof type !== 'string' || !PLAIN.test(type)) return undefined
  if (typeof subname !== 'string' || !(subname === '' || PLAIN.test(subname))) return undefined
  if (!isPlainList(records)) return undefined
  if (ttl === undefined) return { subname, type, records, problems: NONE }
  return Number.isSafeInteger(ttl) ? { subname, type, ttl: ttl as number, records, problems: NONE } : undefined
}

function isPlainList(records: unknown): records is string[] {
  return Array.isArray(records) && records.every((text) => typeof text === 'string' && PLAIN.test(text))
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

function placeless(problems: ItemInput['problems']): ItemInput {
  return { isPlaceless: true, problems }
}

/** The items of a bulk request. @throws Invalid if the body is no array */
export function itemsOf(body: unknown): ItemInput[] {
  if (!Array.isArray(body)) throw Invalid.object(`Expected a list of items but got ${typeName(body)}.`)
  return body as ItemInput[]
}

export function presentRRset(domain: Domain, { created, subname, records, ttl, type, touched }: RRset) {
  return { created, domain: domain.name, subname, name: nameOf(domain, subname), records, ttl, type, touched }
}
