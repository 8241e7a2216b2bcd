import { Mutex, withTimeout, type MutexInterface } from 'async-mutex'
import { Unavailable } from '../errors.ts'
import { TURN_TIME } from '../limits.ts'

/**
 * Queues of this process: work under one key (a zone, an account) is done one after the other. The locks in the
 * database decide among processes; queueing here first keeps waiting writers from holding the pool's connections.
 */
export class Queues {
  readonly #queues = new Map<string, { mutex: MutexInterface; members: number }>()

  /**
   * Waits until all that came before under this key have left.
   * @returns what must be called once, to leave
   * @throws Unavailable if the turn has not come within TURN_TIME
   */
  async enter(key: string): Promise<() => void> {
    const queue = this.#queues.get(key) ?? { mutex: withTimeout(new Mutex(), TURN_TIME), members: 0 }
    this.#queues.set(key, queue)
    queue.members++
    // A member that gave up keeps its place in the mutex, which it passes on at once: it does not count.
    const forget = () => {
      if (--queue.members === 0) this.#queues.delete(key)
    }
    try {
      const release = await queue.mutex.acquire()
      return () => {
        release()
        forget()
      }
    } catch {
      forget()
      throw new Unavailable(`no turn at ${key} within ${TURN_TIME} ms`)
    }
  }

  /** Runs `work` in its turn. @throws Unavailable as `enter` does; then `work` never runs */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
