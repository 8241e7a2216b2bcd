import { absolute, lowerCase, nameOf } from '../../dns/names.ts'
import { Invalid } from '../../errors.ts'
import { NAME_LENGTH, PAGE_SIZE } from '../../limits.ts'
import * as domains from '../../service/domains/domains.ts'
import * as records from '../../service/domains/record-search.ts'
import { answerItems, joinReaders } from '../kit/answer.ts'
import { type Context, parameter } from '../kit/context.ts'
import { FOUND_RECORD, FOUND_ZONE } from './search-representation.ts'

const OBJECTS = ['all', 'zone', 'record', 'comment']

/** Responds with the zones and records that a text matches (contract §20.2). */
export async function searchData(ctx: Context): Promise<void> {
  const { text, most, object } = readQuery(ctx)
  await joinReaders(ctx)
  const zones = object === 'all' || object === 'zone' ? await findZones(ctx, text, most) : []
  const found = object === 'all' || object === 'record' ? await findRecords(ctx, text) : []
  await answerItems(ctx, 200, [...zones, ...found].slice(0, most))
}

/** @throws Invalid */
function readQuery(ctx: Context): { text: string; most: number; object: string } {
  const text = parameter(ctx, 'q') ?? ''
  const max = parameter(ctx, 'max') ?? '100'
  const object = parameter(ctx, 'object_type') ?? 'all'
  if (text === '') throw Invalid.field('q', "can't be blank")
  if (!/^\d{1,9}$/.test(max) || Number(max) < 1) throw Invalid.field('max', 'must be a number larger than 0')
  if (!OBJECTS.includes(object)) throw Invalid.field('object_type', `must be one of ${OBJECTS.join(', ')}`)
  const isPattern = /[*?]/.test(text)
  if (isPattern && (object === 'all' || object === 'record'))
    throw Invalid.field(
      'q',
      'records are found by their full name or content, so without * and ?; see object_type=zone',
    )
  return { text, most: Math.min(Number(max), PAGE_SIZE), object }
}

/** Finds zones by a pattern, in which `*` stands for any text, and `?` for a character. */
async function findZones({ state }: Context, text: string, most: number): Promise<unknown[]> {
  const pattern = lowerCase(text).replace(/\*+/g, '*')
  // Also keeps the comparison of many names short.
  if (pattern.length > NAME_LENGTH) return []
  const [longest = ''] = pattern.split(/[*?]+/).sort((a, b) => b.length - a.length)
  const found: unknown[] = []
  for await (const page of domains.pages(state, longest.replace(/\.$/, ''))) {
    const fitting = page.filter(({ name }) => matches(pattern, absolute(name)) || matches(pattern, name))
    found.push(...fitting.map((domain) => FOUND_ZONE.present(domain)))
    if (found.length >= most) break
  }
  return found
}

/** Matches in time linear in the lengths but for their product. */
function matches(pattern: string, text: string): boolean {
  let [at, from, star, mark] = [0, 0, -1, 0]
  while (from < text.length) {
    if (at < pattern.length && (pattern[at] === '?' || (pattern[at] !== '*' && pattern[at] === text[from]))) {
      at++
      from++
    } else if (pattern[at] === '*') {
      star = at++
      mark = from
    } else if (star >= 0) {
      at = star + 1
      from = ++mark
    } else return false
  }
  return /^\**$/.test(pattern.slice(at))
}

/** Finds the records at a name, and those of a content; @throws Invalid, Busy */
async function findRecords({ state }: Context, text: string): Promise<unknown[]> {
  const atName = await records.search(state, { name: text })
  const ofContent = await records.search(state, { content: text })
  return [
    ...atName.rows.flatMap((rrset) => rrset.records.map((content) => ({ rrset, content }))),
    ...ofContent.rows.map((rrset) => ({ rrset, content: text.trim() })),
  ].map(({ rrset, content }) =>
    FOUND_RECORD.present({ ...rrset, content, name: nameOf({ name: rrset.domain }, rrset.subname) }),
  )
}
