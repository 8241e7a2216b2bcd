import type { RateLimiterQueue } from 'rate-limiter-flexible'
import { Busy } from '../../errors.ts'
import { onDemand } from '../../flow/on-demand.ts'
import { DnsClient, type Endpoint, type Served } from '../wire/client.ts'
import { notifyMessage } from '../wire/messages.ts'

const rateLimiters = onDemand((require) => require('rate-limiter-flexible') as typeof import('rate-limiter-flexible'))

/** Milliseconds in which a secondary has to answer; questions to each per second, and questions that can wait. */
export const SECONDARY_ANSWER_TIME = 400
const SECONDARY_QUESTIONS = 100
const SECONDARY_QUESTIONS_WAITING = 500

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
  // NSD drops questions beyond 200 a second.
  readonly #pace: RateLimiterQueue

  constructor(target: Target) {
    this.name = target.name
    this.#client = new DnsClient(target)
    const { RateLimiterMemory, RateLimiterQueue } = rateLimiters()
    const pace = new RateLimiterMemory({ points: SECONDARY_QUESTIONS, duration: 1 })
    this.#pace = new RateLimiterQueue(pace, { maxQueueSize: SECONDARY_QUESTIONS_WAITING })
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
      await this.#pace.removeTokens(1).catch(() => {
        throw new Busy(`Too many questions wait for ${this.name}.`)
      })
      const answer = await this.#client.ask(zone, SECONDARY_ANSWER_TIME)
      if (answer !== undefined) return answer
    }
    return undefined
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}
