/** Joins those who ask for the same at the same time, so that the work is done once for all of them. */
export class Shared<T> {
  readonly #runs = new Map<string, { running: Promise<T>; next?: Promise<T> }>()

  /**
   * The result of a run of `work` that begins after the call. While one runs for this key, all calls share the next.
   * @param work the same for all calls with this key
   */
  async run(key: string, work: () => Promise<T>): Promise<T> {
    const runs = this.#runs.get(key)
    if (runs === undefined) return this.#start(key, work)
    const again = () => this.#start(key, work)
    return (runs.next ??= runs.running.then(again, again))
  }

  #start(key: string, work: () => Promise<T>): Promise<T> {
    const runs = { running: work() }
    this.#runs.set(key, runs)
    const end = () => {
      if (!('next' in runs)) this.#runs.delete(key)
    }
    runs.running.then(end, end)
    return runs.running
  }
}
