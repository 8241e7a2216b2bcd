import { setTimeout as sleep } from 'node:timers/promises'
import { Busy } from '../../errors.ts'

/** Milliseconds between two questions of this process to any server, and between two to the same one. */
export const QUESTION_PAUSE = 100
export const SERVER_PAUSE = 1_000

/** A clock that can be waited for, in milliseconds. */
export interface Clock {
  now(): number
  sleep(milliseconds: number): Promise<unknown>
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds) => sleep(milliseconds),
}

/** Spreads questions to the nameservers of others, whom nobody has asked for permission. */
export class Pace {
  readonly #clock: Clock
  /** The time from which any server may be asked, and that of each server that was asked a moment ago. */
  #next = -Infinity
  readonly #servers = new Map<string, number>()
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ends all waiting from now on, because the process stops. */
  close(): void {
    this.#isClosed = true
  }

  /**
   * Resolves when a question may be sent.
   * @param server its address; undefined: one of our own resolvers
   * @throws Busy once the pace is closed
   */
  async turn(server: string | undefined): Promise<void> {
    for (;;) {
      if (this.#isClosed) throw Busy.waitedTooLong('the process stops')
      const now = this.#clock.now()
      for (const [each, time] of this.#servers) if (time <= now) this.#servers.delete(each)
      const own = server === undefined ? undefined : this.#servers.get(server)
      const time = Math.max(this.#next, own ?? -Infinity)
      if (time <= now) {
        this.#next = now + QUESTION_PAUSE
        if (server !== undefined) this.#servers.set(server, now + SERVER_PAUSE)
        return
      }
      await this.#clock.sleep(time - now)
    }
  }
}
