import { COUNTED_MAX } from '../../limits.ts'
import type { Count, Counters, Meter, Window } from './counters.ts'

/** What a key takes besides its requests, in requests. */
const KEY_WEIGHT = 24

/**
 * Counts of this process alone. What is in no window any more is forgotten bit by bit; beyond `most` requests also what
 * was not counted under for the longest time, so that callers with ever new addresses cannot make it grow.
 */
export class MemoryCounters implements Counters {
  /** By key, the one that was counted under last at the end. */
  readonly #histories = new Map<string, History>()
  /** Goes round and round, in search of what is past. */
  #search = this.#histories.entries()
  /** Goes only over what it deletes, so that it always stands before the oldest. */
  #oldest = this.#histories.entries()
  readonly #most: number
  #weight = 0

  constructor(most = COUNTED_MAX) {
    this.#most = most
  }

  /** How many requests are remembered, in about 8 octets each; a key counts as some more. */
  get weight(): number {
    return this.#weight
  }

  async count(meters: readonly Meter[], now: number, { look = false } = {}): Promise<Count> {
    const windows: Window[] = []
    let counted = !look
    for (const { key, rates } of meters) {
      const history = this.#histories.get(key)
      for (const { requests, seconds } of rates) {
        const window = history?.window(requests, seconds * 1000, now) ?? unused(requests, seconds * 1000, now)
        counted &&= window.opens === null
        windows.push(window)
      }
    }
    if (counted) {
      for (const { key, rates } of meters) this.#add(key, rates, now)
      this.#forget(now, meters.length)
    }
    return { counted, windows }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #add(key: string, rates: Meter['rates'], now: number): void {
    const history = this.#histories.get(key) ?? new History()
    this.#delete(key, history)
    history.add(now, Math.max(...rates.map(({ seconds }) => seconds)) * 1000)
    this.#histories.set(key, history)
    this.#weight += history.weight
  }

  #delete(key: string, history: History): void {
    if (this.#histories.delete(key)) this.#weight -= history.weight
  }

  /** @param added how many keys were; the search goes on by more, so that it gets round */
  #forget(now: number, added: number): void {
    for (let i = 0; i < 2 * added; i++) {
      const { value, done } = this.#search.next()
      if (done === true) this.#search = this.#histories.entries()
      else if (value[1].expires <= now) this.#delete(...value)
    }
    while (this.#weight > this.#most && this.#histories.size > added) {
      const { value, done } = this.#oldest.next()
      if (done === true) this.#oldest = this.#histories.entries()
      else this.#delete(...value)
    }
  }
}

/** The times of one key's requests. */
class History {
  /** Ascending. */
  #times: number[] = []
  /** How many of them, at the beginning, are in no window any more. */
  #past = 0
  /** When the last one leaves the longest window. */
  expires = 0

  get weight(): number {
    return this.#times.length + KEY_WEIGHT
  }

  window(quota: number, length: number, now: number): Window {
    const times = this.#times
    const start = this.#firstAfter(this.#notBefore(now) - length)
    const used = times.length - start
    if (used === 0) return unused(quota, length, now)
    const leaves = times[start]! + length
    if (used < quota) return { used, leaves, opens: null }
    return { used, leaves, opens: quota === 0 ? now + length : times[times.length - quota]! + length }
  }

  /** @param longest the length of the longest window */
  add(now: number, longest: number): void {
    const time = this.#notBefore(now)
    this.#times.push(time)
    this.expires = time + longest
    this.#past = this.#firstAfter(time - longest)
    if (2 * this.#past > this.#times.length) {
      this.#times = this.#times.slice(this.#past)
      this.#past = 0
    }
  }

  /** For a key, time does not go back. */
  #notBefore(now: number): number {
    return Math.max(now, this.#times.at(-1) ?? now)
  }

  #firstAfter(time: number): number {
    let low = this.#past
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#times[middle]! > time) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** A window without requests. */
function unused(quota: number, length: number, now: number): Window {
  return { used: 0, leaves: null, opens: quota === 0 ? now + length : null }
}
