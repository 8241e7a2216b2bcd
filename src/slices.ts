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

/** The JSON of an array, made in slices. */
export async function stringify(items: readonly unknown[]): Promise<string> {
  return `[${(await mapInSlices(items, (item) => JSON.stringify(item))).join()}]`
}
