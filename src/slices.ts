import { setImmediate as others } from 'node:timers/promises'
import { SLICE } from './limits.ts'

/** Work over many items that pauses between them: pure, and whoever runs it decides what happens meanwhile. */
export type Work<T> = Generator<undefined, T>

/** Runs work in slices of SLICE milliseconds, and lets all else have its turn in between. */
export async function inSlices<T>(work: Work<T>): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE
    do {
      const { done, value } = work.next()
      if (done === true) return value
    } while (performance.now() < end)
    await others()
  }
}

/** Runs work to its end, at once. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** As Array.map. */
export function* mapped<A, B>(items: Iterable<A>, turn: (item: A) => B): Work<B[]> {
  const all: B[] = []
  for (const item of items) {
    all.push(turn(item))
    yield
  }
  return all
}

/** How many items are written as JSON at a time. */
const BATCH = 500

/**
 * Pieces of the JSON text of an array; joined, they are that text.
 * @param members of objects, those that are written; all, if not given
 */
export function* jsonPieces(items: Iterable<unknown>, members?: string[]): Generator<string> {
  let batch: unknown[] = []
  let before = '['
  for (const item of items) {
    batch.push(item)
    if (batch.length < BATCH) continue
    yield before + JSON.stringify(batch, members).slice(1, -1)
    before = ','
    batch = []
  }
  yield batch.length === 0 && before === ',' ? ']' : before + JSON.stringify(batch, members).slice(1)
}

/** The JSON text of an array. */
export async function jsonArray(items: Iterable<unknown>, members?: string[]): Promise<string> {
  return inSlices(joined(jsonPieces(items, members)))
}

function* joined(pieces: Iterable<string>): Work<string> {
  let text = ''
  for (const piece of pieces) {
    text += piece
    yield
  }
  return text
}
