import { Mutex, withTimeout, type MutexInterface } from 'async-mutex'
import { Unavailable } from '../errors.ts'
import { QUEUE_TIMEOUT } from '../limits.ts'

/**
 * The queues of this process: jobs with the same key (a zone, an account) run one after the other. Database locks do
 * this across processes; queueing first keeps waiting writers from occupying the pool's connections.
 */
export class Queues {
  readonly #queues = new Map<string, { mutex: MutexInterface; members: number }>()

  /**
   * Waits until all earlier members of the queue have left.
   * @returns a function that leaves the queue, to be called once
   * @throws Unavailable after QUEUE_TIMEOUT
   */
  async enter(key: string): Promise<() => void> {
    const queue = this.#queues.get(key) ?? { mutex: withTimeout(new Mutex(), QUEUE_TIMEOUT), members: 0 }
    this.#queues.set(key, queue)
    queue.members++
    // A member that timed out still gets the mutex, but releases it at once, so it does not count.
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
      throw new Unavailable(`${key}: still in the queue after ${QUEUE_TIMEOUT} ms`)
    }
  }

  /** Runs `work` when the earlier members have left. @throws Unavailable after QUEUE_TIMEOUT, without running `work` */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
