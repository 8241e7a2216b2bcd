import { setImmediate as nextIteration } from 'node:timers/promises'
import type { Clock } from '../../../src/nameserver/parents/pace.ts'

/** A clock that stands still until it is moved. */
export class SimulatedClock implements Clock {
  #now = 0
  sleepers: { time: number; wake: () => void }[] = []

  now(): number {
    return this.#now
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => this.sleepers.push({ time: this.#now + milliseconds, wake }))
  }

  /** Moves to the next moment for which anybody waits. */
  leap(): void {
    this.pass(Math.min(...this.sleepers.map(({ time }) => time)) - this.#now)
  }

  pass(milliseconds: number): void {
    this.#now += Math.max(milliseconds, 0)
    const due = this.sleepers.filter(({ time }) => time <= this.#now)
    this.sleepers = this.sleepers.filter(({ time }) => time > this.#now)
    for (const { wake } of due) wake()
  }

  /**
   * Does `work` while the clock goes on.
   * @param isStill reports whether nothing but the clock can go on
   */
  async during<T>(work: Promise<T>, isStill = () => true): Promise<T> {
    const ending = { done: false }
    const result = work.finally(() => (ending.done = true))
    // A failure is that of the result.
    result.catch(() => undefined)
    while (!ending.done) {
      if (isStill() && this.sleepers.length > 0) this.leap()
      await nextIteration()
    }
    return result
  }
}
