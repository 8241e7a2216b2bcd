import test from 'ava'
import { inSlices, type Work } from '../../src/flow/slices.ts'

// architecture.md: no request blocks the event loop for long.

/** Work that notes in which iteration of the event loop each of its parts, of 2 ms, ran. */
function* busy(parts: number, iterations: Set<number>, present: () => number): Work<number> {
  for (let part = 0; part < parts; part++) {
    const end = performance.now() + 2
    while (performance.now() < end);
    iterations.add(present())
    yield
  }
  return parts
}

test('of several works, one goes on in each iteration of the event loop', async (t) => {
  let iteration = 0
  let isOver = false
  const count = () => {
    iteration++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const works = Array.from({ length: 8 }, () => new Set<number>())
  const done = await Promise.all(works.map((iterations) => inSlices(busy(20, iterations, () => iteration))))
  isOver = true
  t.deepEqual(done, Array<number>(8).fill(20))
  // They all begin at once.
  const later = works.flatMap((iterations) => [...iterations].slice(1))
  t.true(later.length > 8)
  t.is(new Set(later).size, later.length)
})
