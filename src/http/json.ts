import type { Work } from '../slices.ts'

/** How many characters of JSON are parsed at a time; an item is never divided. */
const BATCH = 65_536

/** More lists, objects and commas in one item, or in a body that is no array, would hold up all others (RFC 8259 §9). */
const MAX_VALUES = 65_536

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Array.from('",\\[]{}', (char) =>
  char.charCodeAt(0),
)

/**
 * Parses JSON; the items of an array one after the other, so that others have their turn in between.
 * @param readItem what each item of an array is turned into
 * @throws SyntaxError
 */
export function* parseJson(text: string, readItem: (item: unknown) => unknown): Work<unknown> {
  const isArray = /^[ \t\n\r]*\[/.test(text)
  const items: unknown[] = []
  let from = text.indexOf('[') + 1
  let depth = 0
  let values = 0
  let pause = BATCH
  for (let at = 0; at < text.length; at++) {
    if (at >= pause) {
      yield
      pause = at + BATCH
    }
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfString(text, at)
    else if (char === CLOSE_LIST || char === CLOSE_OBJECT) {
      if (--depth > 0 || !isArray) continue
      if (char !== CLOSE_LIST) break
      const batch = parseBatch(text.slice(from, at))
      if (batch.length === 0 && items.length > 0) break
      for (const item of batch) items.push(readItem(item))
      if (/[^ \t\n\r]/.test(text.slice(at + 1))) throw new SyntaxError('Unexpected text after the array')
      return items
    } else if (char === COMMA && depth === 1 && isArray) {
      values = 0
      if (at - from < BATCH) continue
      const batch = parseBatch(text.slice(from, at))
      if (batch.length === 0) break
      for (const item of batch) {
        items.push(readItem(item))
        yield
      }
      from = at + 1
    } else if (char === COMMA || char === OPEN_LIST || char === OPEN_OBJECT) {
      if (char !== COMMA) depth++
      if (++values > MAX_VALUES) throw new SyntaxError(`There are more than ${MAX_VALUES} values in one item`)
    }
  }
  if (isArray) throw new SyntaxError('Unexpected end of the array')
  return JSON.parse(text) as unknown
}

function parseBatch(text: string): unknown[] {
  return JSON.parse(`[${text}]`) as unknown[]
}

/** The position of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = start
  do end = text.indexOf('"', end + 1)
  while (end !== -1 && isEscaped(text, end))
  return end === -1 ? text.length : end
}

/** Whether an odd number of backslashes stands before a position. */
function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text.charCodeAt(start - 1) === BACKSLASH) start--
  return (at - start) % 2 > 0
}
