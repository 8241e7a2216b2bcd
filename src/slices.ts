import { setImmediate as nextIteration } from 'node:timers/promises'
import { SLICE } from './limits.ts'

/** One call of JSON.stringify for many items is much faster than one for each. */
const CHUNK = 100

/** Work on many items that yields after each, so that other requests can run in between. */
export type Work<T> = Generator<undefined, T>

/** Runs work in slices of SLICE milliseconds, and lets the event loop run in between. */
export async function inSlices<T>(work: Work<T>): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE
    do {
      const { done, value } = work.next()
      if (done === true) return value
    } while (performance.now() < end)
    await nextIteration()
  }
}

/** Array.map in slices. */
export async function mapInSlices<A, B>(items: readonly A[], map: (item: A) => B): Promise<B[]> {
  return inSlices(mapping(items, map))
}

function* mapping<A, B>(items: readonly A[], map: (item: A) => B): Work<B[]> {
  const mapped: B[] = []
  for (const item of items) {
    mapped.push(map(item))
    yield
  }
  return mapped
}

/** The JSON of an array, made in slices. */
export async function stringify(items: readonly unknown[]): Promise<string> {
  return `[${(await inSlices(stringifying(items))).join()}]`
}

function* stringifying(items: readonly unknown[]): Work<string[]> {
  const parts: string[] = []
  for (let from = 0; from < items.length; from += CHUNK) {
    parts.push(JSON.stringify(items.slice(from, from + CHUNK)).slice(1, -1))
    yield
  }
  return parts
}
