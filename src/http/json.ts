import type { Work } from '../slices.ts'

/** How many characters of JSON are parsed at a time; an item is never divided. */
const BATCH = 65_536

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Array.from('",\\[]{}', (char) =>
  char.charCodeAt(0),
)

/**
 * Parses JSON; the items of an array one after the other, so that others have their turn in between.
 * @param readItem what each item of an array is turned into
 * @throws SyntaxError
 */
export function* parseJson(text: string, readItem: (item: unknown) => unknown): Work<unknown> {
  const start = /^[ \t\n\r]*\[/.exec(text)?.[0].length
  if (start === undefined) return JSON.parse(text) as unknown

  const items: unknown[] = []
  let from = start
  let depth = 1
  let pause = start + BATCH
  for (let at = start; at < text.length; at++) {
    if (at >= pause) {
      yield
      pause = at + BATCH
    }
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfString(text, at)
    else if (char === OPEN_LIST || char === OPEN_OBJECT) depth++
    else if (char === CLOSE_LIST || char === CLOSE_OBJECT) {
      if (--depth > 0) continue
      if (char !== CLOSE_LIST) break
      const batch = parseBatch(text.slice(from, at))
      if (batch.length === 0 && from > start) break
      for (const item of batch) items.push(readItem(item))
      if (/[^ \t\n\r]/.test(text.slice(at + 1))) throw new SyntaxError('Unexpected text after the array')
      return items
    } else if (char === COMMA && depth === 1 && at - from >= BATCH) {
      const batch = parseBatch(text.slice(from, at))
      if (batch.length === 0) break
      for (const item of batch) {
        items.push(readItem(item))
        yield
      }
      from = at + 1
    }
  }
  throw new SyntaxError('Unexpected end of the array')
}

function parseBatch(text: string): unknown[] {
  return JSON.parse(`[${text}]`) as unknown[]
}

/** The position of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}
