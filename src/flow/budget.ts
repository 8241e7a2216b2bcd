import { Busy } from '../errors.ts'
import { TURN_TIMEOUT } from '../limits.ts'

const STOPPING = 'the process stops'

/** Gives back the taken amount; call it once. */
export type Release = () => void

interface Waiter {
  count: number
  enter: (release: Release) => void
  refuse: (reason: string) => void
}

/**
 * A bound on the work and the memory in use in this process, such as octets or writes: for each caller (an account, an
 * address, a zone), and for all of them together. Database locks order writers across processes. Waiting here first
 * keeps writers from occupying the pool's connections.
 */
export class Budget {
  readonly #each: number
  readonly #all: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Map<string, Set<Waiter>>()
  #total = 0
  #isClosed = false

  constructor({ each, all = Infinity }: { each: number; all?: number }) {
    this.#each = each
    this.#all = all
  }

  /** Takes some for a caller; returns undefined if that would exceed the bounds. */
  tryTake(caller: string, count = 1): Release | undefined {
    if (this.#of(caller) + count > this.#each || this.#total + count > this.#all) return undefined
    this.#add(caller, count)
    return () => {
      this.#add(caller, -count)
      for (const other of this.#all === Infinity ? [caller] : this.#waiting.keys()) this.#admit(other)
    }
  }

  /**
   * Takes some when the budget has room, after the earlier calls for the same caller.
   * @throws Busy after TURN_TIMEOUT, and once the budget is closed
   */
  async take(caller: string, count = 1): Promise<Release> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(caller) ?? new Set()
      const enter = (release: Release) => {
        clearTimeout(late)
        resolve(release)
      }
      const refuse = (reason: string) => {
        clearTimeout(late)
        waiters.delete(waiter)
        this.#admit(caller)
        reject(Busy.waitedTooLong(`${caller}: ${reason}`))
      }
      const waiter = { count, enter, refuse }
      const late = setTimeout(refuse, TURN_TIMEOUT, `still in the queue after ${TURN_TIMEOUT} ms`)
      this.#waiting.set(caller, waiters.add(waiter))
      this.#admit(caller)
      // Without effect on one that has entered.
      if (this.#isClosed) refuse(STOPPING)
    })
  }

  /** Ends all waiting from now on, because the process stops. */
  close(): void {
    this.#isClosed = true
    for (const waiter of [...this.#waiting.values()].flatMap((waiters) => [...waiters])) waiter.refuse(STOPPING)
  }

  /** Runs `work` when the budget has room. @throws Busy like `take`, without running `work` */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const release = await this.take(caller)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Admits the waiting calls of a caller in their order, as far as the budget has room. */
  #admit(caller: string): void {
    const waiters = this.#waiting.get(caller)
    for (const waiter of waiters ?? []) {
      const release = this.tryTake(caller, waiter.count)
      if (release === undefined) return
      waiters!.delete(waiter)
      waiter.enter(release)
    }
    this.#waiting.delete(caller)
  }

  #add(caller: string, count: number): void {
    const taken = this.#of(caller) + count
    if (taken === 0) this.#taken.delete(caller)
    else this.#taken.set(caller, taken)
    this.#total += count
  }

  #of(caller: string): number {
    return this.#taken.get(caller) ?? 0
  }
}
