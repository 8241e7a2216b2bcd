/** Wakes loops of this process that pause. */
export class Bell {
  #next = new AbortController()

  /** Aborts when the bell rings next. */
  get next(): AbortSignal {
    return this.#next.signal
  }

  ring(): void {
    this.#next.abort()
    this.#next = new AbortController()
  }
}
