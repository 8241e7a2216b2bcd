import { Unavailable } from '../errors.ts'
import { TURN_TIME } from '../limits.ts'

/**
 * Queues of this process: work under one key (a zone, an account) is done one after the other. The locks in the
 * database decide among processes; queueing here first keeps waiting writers from holding the pool's connections.
 */
export class Turns {
  readonly #waiting = new Map<string, (() => void)[]>()

  /**
   * Runs `work` once all that came before under this key is done.
   * @throws Unavailable if the turn has not come within TURN_TIME; then `work` never runs
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#turn(key)
    try {
      return await work()
    } finally {
      this.#pass(key)
    }
  }

  async #turn(key: string): Promise<void> {
    const queue = this.#waiting.get(key)
    if (queue === undefined) {
      this.#waiting.set(key, [])
      return
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(enter), 1)
        reject(new Unavailable(`no turn at ${key} within ${TURN_TIME} ms`))
      }, TURN_TIME)
      queue.push(enter)
    })
  }

  #pass(key: string): void {
    const next = this.#waiting.get(key)?.shift()
    if (next === undefined) this.#waiting.delete(key)
    else next()
  }
}
