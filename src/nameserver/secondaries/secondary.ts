import { setTimeout as sleep } from 'node:timers/promises'
import { Busy } from '../../errors.ts'
import { DnsClient, type Endpoint, type Served } from '../wire/client.ts'
import { notifyMessage } from '../wire/messages.ts'

/** Milliseconds in which a secondary has to answer. */
export const SECONDARY_ANSWER_TIME = 400

/** Milliseconds between two questions to one, because NSD drops those beyond 200 a second, and for which one can wait. */
const QUESTION_PAUSE = 10
const QUESTION_WAIT = 5_000

/** The address of a secondary, and the name that status answers give it. */
export interface Target extends Endpoint {
  name: string
}

/** A nameserver that transfers our zones. */
export class Secondary {
  readonly name: string
  readonly #client: DnsClient
  /** The questions that wait or are in flight, by zone. */
  readonly #asked = new Map<string, Promise<Served>>()
  /** The time from which the next question may be sent, by performance.now(). */
  #next = 0

  constructor(target: Target) {
    this.name = target.name
    this.#client = new DnsClient(target)
  }

  /** Sends NOTIFY for the zone (RFC 1996). An acknowledgement would prove nothing, so the service awaits none. */
  async notify(zone: string): Promise<void> {
    await this.#client.send(notifyMessage(zone)).catch(() => undefined)
  }

  /**
   * Asks for the zone's SOA, twice if need be. Callers that ask about a zone at the same time share a question, so that
   * a few zones do not keep the others waiting. @throws Busy
   */
  async serves(zone: string): Promise<Served> {
    const asked = this.#asked.get(zone) ?? this.#ask(zone).finally(() => this.#asked.delete(zone))
    this.#asked.set(zone, asked)
    return asked
  }

  async #ask(zone: string): Promise<Served> {
    for (let left = 2; left > 0; left--) {
      await this.#turn()
      const answer = await this.#client.ask(zone, SECONDARY_ANSWER_TIME)
      if (answer !== undefined) return answer
    }
    return undefined
  }

  async #turn(): Promise<void> {
    const now = performance.now()
    const turn = Math.max(this.#next, now)
    if (turn - now > QUESTION_WAIT) throw new Busy(`Too many questions wait for ${this.name}.`)
    this.#next = turn + QUESTION_PAUSE
    if (turn > now) await sleep(turn - now)
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}
