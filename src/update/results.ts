import type { Outcome } from './answers.ts'

/** The results that are kept. */
const KEPT = 4_096

/** The results of updates, by the MAC of their messages: a message that comes twice is carried out once. */
export class Results {
  readonly #results = new Map<string, Promise<Outcome>>()

  /** Returns the result of a message, which is carried out if it has not come before. */
  of(mac: string, carryOut: () => Promise<Outcome>): Promise<Outcome> {
    const known = this.#results.get(mac)
    if (known !== undefined) return known
    const result = carryOut()
    this.#results.set(mac, result)
    const [oldest] = this.#results.keys()
    if (this.#results.size > KEPT) this.#results.delete(oldest!)
    void result.then(({ rcode }) => {
      // These may differ when the message comes again.
      if (rcode === 'SERVFAIL' || rcode === 'REFUSED') this.#results.delete(mac)
    })
    return result
  }
}
