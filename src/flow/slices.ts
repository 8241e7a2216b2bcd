import { setImmediate as nextIteration } from 'node:timers/promises'

/** Milliseconds of work on one request, after which it yields to the event loop. */
const SLICE = 10

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

/** Does Array.map in slices. */
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

/**
 * Returns the JSON of an array, made in slices. One call for many items is much faster than one for each.
 * @param shown returns the part of an item for the JSON; default: all
 */
export async function stringify<T>(items: readonly T[], shown: (item: T) => unknown = (item) => item): Promise<string> {
  const starts = Array.from({ length: Math.ceil(items.length / 100) }, (_, i) => 100 * i)
  const json = await mapInSlices(starts, (at) => JSON.stringify(items.slice(at, at + 100).map(shown)).slice(1, -1))
  return `[${json.join()}]`
}
