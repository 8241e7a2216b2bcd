/** Memory for the octets that callers make a process hold: bounded for each caller, and for all of them together. */
export class Room {
  readonly #each: number
  readonly #all: number
  readonly #held = new Map<string, number>()
  #total = 0

  /** @param bounds in octets */
  constructor(bounds: { each: number; all: number }) {
    this.#each = bounds.each
    this.#all = bounds.all
  }

  /** Counts octets for a caller until `release`, if the bounds allow it; else returns false. */
  hold(caller: string, octets: number): boolean {
    if (this.#of(caller) + octets > this.#each || this.#total + octets > this.#all) return false
    this.add(caller, octets)
    return true
  }

  /** Whether a caller is beyond its own bound. */
  isFull(caller: string): boolean {
    return this.#of(caller) > this.#each
  }

  /** Counts octets for a caller until `release`, even beyond the bounds. */
  add(caller: string, octets: number): void {
    const held = this.#of(caller) + octets
    if (held === 0) this.#held.delete(caller)
    else this.#held.set(caller, held)
    this.#total += octets
  }

  release(caller: string, octets: number): void {
    this.add(caller, -octets)
  }

  #of(caller: string): number {
    return this.#held.get(caller) ?? 0
  }
}
