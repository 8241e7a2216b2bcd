import { Busy } from '../errors.ts'
import { KEEPING_TIME, OWN_KEEPING_TIME, TURN_TIMEOUT } from '../limits.ts'

const STOPPING = 'the process stops'

/** Gives back the taken amount; further calls have no effect. */
export type Release = () => void

/** The patience of one that waits, perhaps in several budgets, one after the other. */
export interface Patience {
  /** Milliseconds. */
  left: number
  /** Aborts when nobody waits any more. */
  gone: AbortSignal
}

/** Milliseconds between two looks for places that are kept too long. */
const LOOKING_PAUSE = 500

/** A request that has places, and knows when it has them only because it waits for its client, or for a stranger. */
export class Holder {
  readonly #ownTime: number
  #waited = 0
  #since: number | undefined
  /** Ends it, so that it gives its places back. */
  cut: () => void = () => undefined

  /** @param ownTime milliseconds of waiting after which it also loses its places to its own caller */
  constructor(ownTime = OWN_KEEPING_TIME) {
    this.#ownTime = ownTime
  }

  /** From now on it waits, and `cut` ends it. */
  begin(cut: () => void): void {
    this.#since ??= performance.now()
    this.cut = cut
  }

  /** It goes on, and cannot lose its places now. */
  end(): void {
    this.#waited = this.waited
    this.#since = undefined
  }

  /** The milliseconds for which it has waited in all. */
  get waited(): number {
    return this.#waited + (this.#since === undefined ? 0 : performance.now() - this.#since)
  }

  /** Whether it waits now, and has waited so long that it loses its places to its own caller, or to others. */
  isSlow(isOwn: boolean): boolean {
    return this.#since !== undefined && this.waited >= (isOwn ? this.#ownTime : KEEPING_TIME)
  }
}

interface Place {
  caller: string
  count: number
  holder: Holder | undefined
}

interface Waiter {
  count: number
  holder: Holder | undefined
  enter: (release: Release) => void
  refuse: (reason: string) => void
}

/** What a call takes; default: one, without a holder. */
interface Taken {
  count?: number
  /** The holder that can lose it; undefined: nobody takes it away. */
  holder?: Holder | undefined
}

/**
 * A bound on the work and the memory in use in this process, such as octets or writes: for each caller (an account, an
 * address, a zone), and for all of them together. Of the bound of all, a caller gets at most as much as it leaves to the
 * others; what is kept for a slow client goes to those who wait and have less (contract §1.8). Database locks order
 * writers across processes. Waiting here first keeps writers from occupying the pool's connections.
 */
export class Budget {
  readonly #each: number
  readonly #all: number
  readonly #taken = new Map<string, number>()
  readonly #places = new Set<Place>()
  readonly #waiting = new Map<string, Set<Waiter>>()
  #total = 0
  #isClosed = false

  constructor({ each, all = Infinity }: { each: number; all?: number }) {
    this.#each = each
    this.#all = all
  }

  /** Takes some for a caller; returns undefined if that would exceed the bounds. */
  tryTake(caller: string, { count = 1, holder }: Taken = {}): Release | undefined {
    if (this.#lack(caller, count) > 0) return undefined
    const place = { caller, count, holder }
    this.#places.add(place)
    this.#add(caller, count)
    return () => {
      if (!this.#places.delete(place)) return
      this.#add(caller, -count)
      for (const other of this.#all === Infinity ? [caller] : this.#waiting.keys()) this.#admit(other)
    }
  }

  /**
   * Takes some when the budget has room, after the earlier calls for the same caller.
   * @param patience default: TURN_TIMEOUT
   * @throws Busy when the patience has ended, and once the budget is closed
   */
  async take(caller: string, patience?: Patience, { count = 1, holder }: Taken = {}): Promise<Release> {
    const free = this.#waiting.has(caller) ? undefined : this.tryTake(caller, { count, holder })
    if (free !== undefined) return free
    const start = performance.now()
    return new Promise<Release>((resolve, reject) => {
      const waiters = this.#waiting.get(caller) ?? new Set()
      const end = () => {
        clearTimeout(late)
        clearInterval(looking)
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
      const waiter = { count, holder, enter, refuse }
      let looking: NodeJS.Timeout | undefined
      const late = setTimeout(refuse, patience?.left ?? TURN_TIMEOUT, `still in the queue after ${TURN_TIMEOUT} ms`)
      patience?.gone.addEventListener('abort', leave)
      this.#waiting.set(caller, waiters.add(waiter))
      if (this.#isClosed) refuse(STOPPING)
      else if (patience?.gone.aborted === true) leave()
      else if (this.#all < Infinity)
        looking = setInterval(() => {
          this.#cutFor(caller, count)
        }, LOOKING_PAUSE)
    })
  }

  /** Takes one for each of these callers, in this order; the result gives all back. @throws Busy like `take` */
  async takeInTurn(callers: string[], patience?: Patience): Promise<Release> {
    const taken: Release[] = []
    const release = () => {
      for (const releaseOne of taken) releaseOne()
    }
    try {
      for (const caller of callers) taken.push(await this.take(caller, patience))
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  /** Ends all waiting from now on, because the process stops. */
  close(): void {
    this.#isClosed = true
    for (const waiter of [...this.#waiting.values()].flatMap((waiters) => [...waiters])) waiter.refuse(STOPPING)
  }

  /** Runs `work` when the budget has room. @throws Busy like `take`, without running `work` */
  async run<T>(caller: string, patience: Patience | undefined, work: () => Promise<T>, taken: Taken = {}): Promise<T> {
    const release = await this.take(caller, patience, taken)
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
      const release = this.tryTake(caller, waiter)
      if (release === undefined) return
      waiters!.delete(waiter)
      this.#waiting.delete(caller)
      this.#waiting.set(caller, waiters!)
      waiter.enter(release)
    }
    this.#waiting.delete(caller)
  }

  /** Returns by how much the bounds are too small for `count` more. */
  #lack(caller: string, count: number): number {
    const size = this.#of(caller) + count
    return Math.max(size - this.#each, this.#all === Infinity ? 0 : size - (this.#all - this.#total))
  }

  /**
   * Ends slow holders until there will be room for a caller's `count`: the slowest ones of the largest callers, but none
   * of a caller that has less than this one would get.
   */
  #cutFor(caller: string, count: number): void {
    const size = this.#of(caller) + count
    let lack = this.#lack(caller, count)
    const slow = [...this.#places].filter(({ caller: other, holder }) => {
      const isOwn = other === caller
      return holder?.isSlow(isOwn) === true && (isOwn || (size <= this.#each && this.#of(other) >= size))
    })
    slow.sort((a, b) => this.#of(b.caller) - this.#of(a.caller) || b.holder!.waited - a.holder!.waited)
    for (const { holder, count: freed } of slow) {
      if (lack <= 0) return
      lack -= freed
      holder!.cut()
    }
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
