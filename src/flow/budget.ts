import { Busy } from '../errors.ts'
import { TURN_TIMEOUT } from '../limits.ts'

const STOPPING = 'the process stops'

/** Gives back the taken amount; call it once. */
export type Release = () => void

/** The patience of one that waits, perhaps in several budgets, one after the other. */
export interface Patience {
  /** Milliseconds. */
  left: number
  /** Aborts when nobody waits any more. */
  gone: AbortSignal
}

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
   * @param patience default: TURN_TIMEOUT
   * @throws Busy when the patience has ended, and once the budget is closed
   */
  async take(caller: string, patience?: Patience, count = 1): Promise<Release> {
    const start = performance.now()
    return new Promise<Release>((resolve, reject) => {
      const waiters = this.#waiting.get(caller) ?? new Set()
      const end = () => {
        clearTimeout(late)
        patience?.gone.removeEventListener('abort', leave)
        if (patience !== undefined) patience.left -= performance.now() - start
      }
      const enter = (release: Release) => {
        end()
        resolve(release)
      }
      const refuse = (reason: string) => {
        end()
        waiters.delete(waiter)
        this.#admit(caller)
        reject(Busy.waitedTooLong(`${caller}: ${reason}`))
      }
      const leave = () => {
        refuse('the client is gone')
      }
      const waiter = { count, enter, refuse }
      const late = setTimeout(refuse, patience?.left ?? TURN_TIMEOUT, `still in the queue after ${TURN_TIMEOUT} ms`)
      patience?.gone.addEventListener('abort', leave)
      this.#waiting.set(caller, waiters.add(waiter))
      this.#admit(caller)
      // Without effect on one that has entered.
      if (this.#isClosed) refuse(STOPPING)
      else if (patience?.gone.aborted === true) leave()
    })
  }

  /** Ends all waiting from now on, because the process stops. */
  close(): void {
    this.#isClosed = true
    for (const waiter of [...this.#waiting.values()].flatMap((waiters) => [...waiters])) waiter.refuse(STOPPING)
  }

  /** Runs `work` when the budget has room. @throws Busy like `take`, without running `work` */
  async run<T>(caller: string, patience: Patience | undefined, work: () => Promise<T>): Promise<T> {
    const release = await this.take(caller, patience)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Admits the waiting calls of a caller in their order, as far as the budget has room; then others come first. */
  #admit(caller: string): void {
    const waiters = this.#waiting.get(caller)
    for (const waiter of waiters ?? []) {
      const release = this.tryTake(caller, waiter.count)
      if (release === undefined) return
      waiters!.delete(waiter)
      this.#waiting.delete(caller)
      this.#waiting.set(caller, waiters!)
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
