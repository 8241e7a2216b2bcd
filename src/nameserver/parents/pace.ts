import { setTimeout as sleep } from 'node:timers/promises'
import { Busy } from '../../errors.ts'

/** Milliseconds between two questions of this process to any server, and between two to the same one. */
export const QUESTION_PAUSE = 100
export const SERVER_PAUSE = 1_000

const STOPPING = 'the process stops'

/** A clock that can be waited for, in milliseconds. */
export interface Clock {
  now(): number
  sleep(milliseconds: number): Promise<unknown>
}

export const REAL_CLOCK: Clock = { now: () => performance.now(), sleep }

interface Waiter {
  server: string | undefined
  isOver: () => boolean
  resolve: (isTurn: boolean) => void
  reject: (error: Busy) => void
}

/** Spreads questions to the nameservers of others, whom nobody has asked for permission. */
export class Pace {
  readonly #clock: Clock
  /** The time from which any server may be asked, and that of each server that was asked a moment ago. */
  #next = -Infinity
  readonly #servers = new Map<string, number>()
  /** Those that wait for their turn, in the order of their coming. */
  readonly #waiters = new Set<Waiter>()
  #isAdmitting = false
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends all waiting from now on, because the process stops. */
  close(): void {
    this.#isClosed = true
    for (const { reject } of this.#waiters) reject(Busy.waitedTooLong(STOPPING))
    this.#waiters.clear()
  }

  /**
   * Resolves to true when a question may be sent, and to false when `isOver` reports that it is not wanted any more.
   * Turns come in the order of the calls, but no call waits for one that waits for its server.
   * @param server its address; undefined: one of our own resolvers
   * @throws Busy once the pace is closed
   */
  async turn(server: string | undefined, isOver: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(Busy.waitedTooLong(STOPPING))
        return
      }
      this.#waiters.add({ server, isOver, resolve, reject })
      if (!this.#isAdmitting) void this.#admit()
    })
  }

  /** Admits those that wait, until there are none: they share one timer. */
  async #admit(): Promise<void> {
    this.#isAdmitting = true
    for (;;) {
      const now = this.#clock.now()
      for (const [each, time] of this.#servers) if (time <= now) this.#servers.delete(each)
      for (const waiter of this.#waiters) if (waiter.isOver()) this.#end(waiter, false)
      if (this.#next <= now) this.#admitFirst(now)
      if (this.#waiters.size === 0) break
      await this.#clock.sleep(this.#next > now ? this.#next - now : QUESTION_PAUSE)
    }
    this.#isAdmitting = false
  }

  /** Gives the turn to the first waiter whose server may be asked. */
  #admitFirst(now: number): void {
    for (const waiter of this.#waiters) {
      const { server } = waiter
      if (server !== undefined && this.#servers.has(server)) continue
      this.#next = now + QUESTION_PAUSE
      if (server !== undefined) this.#servers.set(server, now + SERVER_PAUSE)
      this.#end(waiter, true)
      return
    }
  }

  #end(waiter: Waiter, isTurn: boolean): void {
    this.#waiters.delete(waiter)
    waiter.resolve(isTurn)
  }
}
