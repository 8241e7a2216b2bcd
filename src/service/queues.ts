import { Semaphore, withTimeout, type SemaphoreInterface } from 'async-mutex'
import { Busy } from '../errors.ts'
import { QUEUE_TIMEOUT } from '../limits.ts'

/**
 * The queues of this process: jobs with the same key (a zone, an account) run one after the other, or a few at a time.
 * Database locks do this across processes; queueing first keeps waiting writers from occupying the pool's connections.
 */
export class Queues {
  readonly #queues = new Map<string, { semaphore: SemaphoreInterface; members: number }>()

  /**
   * Waits until the earlier members of the queue have left, or enough of them that there is room.
   * @param room.places how many the queue has, always the same for a key
   * @param room.taken how many of these the member takes
   * @returns a function that leaves the queue, to be called once
   * @throws Busy after QUEUE_TIMEOUT
   */
  async enter(key: string, { places = 1, taken = 1 } = {}): Promise<() => void> {
    const queue = this.#queues.get(key) ?? {
      semaphore: withTimeout(new Semaphore(places), QUEUE_TIMEOUT),
      members: 0,
    }
    this.#queues.set(key, queue)
    queue.members++
    // A member that timed out still gets its places, but releases them at once, so it does not count.
    const forget = () => {
      if (--queue.members === 0) this.#queues.delete(key)
    }
    try {
      const [, release] = await queue.semaphore.acquire(taken)
      return () => {
        release()
        forget()
      }
    } catch {
      forget()
      throw Busy.waitedTooLong(`${key}: still in the queue after ${QUEUE_TIMEOUT} ms`)
    }
  }

  /** Runs `work` when the earlier members have left. @throws Busy after QUEUE_TIMEOUT, without running `work` */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
