import { setImmediate as nextIteration } from 'node:timers/promises'
import { SLICE } from './limits.ts'

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

/** The JSON of an array, made in slices. One call for many items is much faster than one for each. */
export async function stringify(items: readonly unknown[]): Promise<string> {
  const chunks = Array.from({ length: Math.ceil(items.length / 100) }, (_, i) => items.slice(100 * i, 100 * (i + 1)))
  return `[${(await mapInSlices(chunks, (chunk) => JSON.stringify(chunk).slice(1, -1))).join()}]`
}
