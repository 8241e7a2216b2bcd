/** The seed of all random choices of this run: test/run.ts chooses it, or takes TEST_SEED. */
export const SEED = Number(process.env['TEST_SEED'])

/** Random choices, the same ones in each run with the same seed. */
export class Random {
  #state: number

  constructor(seed = SEED) {
    this.#state = seed
  }

  /** From 0 up to, but not including, `end` (mulberry32). */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end)
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }

  /** Some of the choices, each once at most. */
  some<T>(choices: readonly T[], count: number): T[] {
    const left = [...choices]
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(this.below(left.length), 1)[0]!)
  }
}
