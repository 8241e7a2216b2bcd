import { setImmediate as nextIteration } from 'node:timers/promises'

/** Milliseconds of work on one request, after which it yields to the event loop. */
const SLICE = 10

/** Work on many items that yields after each, so that other requests can run in between. */
export type Work<T> = Generator<undefined, T>

/** The turn of the slice that comes last as yet. */
let lastTurn: Promise<unknown> = Promise.resolve()

/** Waits for an iteration of the event loop in which no other work goes on: many of them together would be a long one. */
async function nextTurn(): Promise<void> {
  const turn = lastTurn.then(() => nextIteration())
  lastTurn = turn
  await turn
}

/** Runs work in slices of SLICE milliseconds, and lets the event loop run in between; of several works, one at a time. */
export async function inSlices<T>(work: Work<T>): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE
    do {
      const { done, value } = work.next()
      if (done === true) return value
    } while (performance.now() < end)
    await nextTurn()
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
