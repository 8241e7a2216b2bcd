import { titleOf } from '../rrsets/rows.ts'
import { type Place, rrsetKey } from '../rrsets/rrset.ts'

/** All texts in the body of a refusal (contract §2.1), with the name of their field if it has one. */
export function textsIn(body: unknown): string[] {
  if (typeof body === 'string') return [body]
  if (Array.isArray(body)) return body.flatMap(textsIn)
  if (typeof body !== 'object' || body === null) return []
  if ('conflicts' in body)
    return [`Later changes are in the way: ${(body.conflicts as Place[]).map(titleOf).join(', ')}.`]
  return Object.entries(body).flatMap(([name, value]) =>
    textsIn(value).map((text) => (['detail', 'non_field_errors'].includes(name) ? text : `${name}: ${text}`)),
  )
}

/** Problems of a list, with the items that they are about in place of their numbers (contract §15.7). */
export function withItems(problems: string[], items: string[]): string[] {
  return problems.map((text) =>
    text
      .replace(/^Item (\d+)/, (_, at: string) => items[Number(at)]!)
      .replace('be in addresses', 'also stand under “May transfer”'),
  )
}

/** The problems of each item of a bulk write, by its place (contract §8.7); undefined if the refusal is another one. */
export function problemsByPlace(items: Place[], body: unknown): ReadonlyMap<string, string[]> | undefined {
  if (!Array.isArray(body)) return undefined
  const problems = items.map((item, i) => [rrsetKey(item), textsIn(body[i])] as const)
  return new Map(problems.filter(([, texts]) => texts.length > 0))
}
