/** What callers make a process hold, such as octets or connections: bounded for each caller, and for all of them together. */
export class Room {
  readonly #each: number
  readonly #all: number
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(bounds: { each: number; all: number }) {
    this.#each = bounds.each
    this.#all = bounds.all
  }

  /** Counts some for a caller until `release`, if the bounds allow it; else returns false. */
  hold(caller: string, count: number): boolean {
    if (this.#of(caller) + count > this.#each || this.#total + count > this.#all) return false
    this.add(caller, count)
    return true
  }

  /** Whether a caller is beyond its own bound. */
  isFull(caller: string): boolean {
    return this.#of(caller) > this.#each
  }

  /** Counts some for a caller until `release`, even beyond the bounds. */
  add(caller: string, count: number): void {
    const held = this.#of(caller) + count
    if (held === 0) this.#held.delete(caller)
    else this.#held.set(caller, held)
    this.#total += count
  }

  release(caller: string, count: number): void {
    this.add(caller, -count)
  }

  #of(caller: string): number {
    return this.#held.get(caller) ?? 0
  }
}
