import { SHARING_PATIENCE } from '../limits.ts'

interface Runs<T> {
  running: Promise<T>
  next?: Promise<T>
}

/** Joins those who ask for the same at the same time, so that the work is done once for all of them. */
export class Shared<T> {
  readonly #runs = new Map<string, Runs<T>>()

  /**
   * The result of a run of `work` that begins after the call. While one runs for this key, all calls share the next, which
   * waits for the running one, though not for one that hangs.
   * @param work the same for all calls with this key
   */
  async run(key: string, work: () => Promise<T>): Promise<T> {
    const runs = this.#runs.get(key)
    if (runs === undefined) return this.#start(key, work)
    return (runs.next ??= endOf(runs.running).then(() => this.#start(key, work)))
  }

  #start(key: string, work: () => Promise<T>): Promise<T> {
    const runs: Runs<T> = { running: work() }
    this.#runs.set(key, runs)
    const end = () => {
      if (runs.next === undefined && this.#runs.get(key) === runs) this.#runs.delete(key)
    }
    runs.running.then(end, end)
    return runs.running
  }
}

/** Resolves when the work has ended in either way, or after SHARING_PATIENCE. */
async function endOf(work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SHARING_PATIENCE)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    work.then(end, end)
  })
}
