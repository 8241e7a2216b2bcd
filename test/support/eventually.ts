import { setTimeout as sleep } from 'node:timers/promises'
import { inspect, isDeepStrictEqual } from 'node:util'

// Waiting for work in the background, such as repair. Nothing here says how long that takes: a test gives up after so many
// looks, and so long a time, that a machine that is slow or stood still does not matter.

/** How often a test looks at least, and for how many milliseconds, before it gives up. */
const LOOKS = 400
const PATIENCE = 150_000

/** The longest pause between two looks, in milliseconds; the first ones are shorter. */
const PAUSE = 50

type Look<T> = () => T | Promise<T>

/** Waits until `isEnough` accepts what `look` returns, and returns that. @throws an error that tells what was seen last */
export function eventually<T>(look: Look<T>, isEnough: (seen: T) => boolean = Boolean): Promise<T> {
  return lookUntil(look, isEnough, isEnough === Boolean ? '' : ` to fulfil ${String(isEnough)}`)
}

/** Waits until `look` returns what is deeply equal to `expected`. @throws an error that tells what was seen last */
export async function eventuallyIs<T>(look: Look<T>, expected: T): Promise<void> {
  await lookUntil(look, (seen) => isDeepStrictEqual(seen, expected), ` to be ${inspect(expected)}`)
}

/** Waits until the text that `look` returns contains `part`. @throws an error that tells what was seen last */
export async function eventuallyHas(look: Look<string>, part: string): Promise<void> {
  await lookUntil(look, (seen) => seen.includes(part), ` to contain ${inspect(part)}`)
}

/** A promise that the test itself resolves. */
export function defer<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}

async function lookUntil<T>(look: Look<T>, isEnough: (seen: T) => boolean, what: string): Promise<T> {
  const start = performance.now()
  for (let looks = 1; ; looks++) {
    const seen = await look()
    if (isEnough(seen)) return seen
    const waited = performance.now() - start
    if (looks >= LOOKS && waited > PATIENCE) {
      const last = inspect(seen, { depth: 4, maxStringLength: 2_000 })
      const times = `${looks} times in ${Math.round(waited / 1000)} s`
      throw new Error(`looked ${times} for ${String(look)}${what}; saw last: ${last}`)
    }
    await sleep(Math.min(PAUSE, 4 + looks))
  }
}
