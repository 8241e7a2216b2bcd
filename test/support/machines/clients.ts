import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { type Answer, Client, parse } from '../clients/client.ts'
import { eventually } from '../eventually.ts'

/** What clients saw of one kind of requests, in a time. */
export class Sight {
  /** Requests that succeeded; that succeeded or failed after a second attempt; that failed. */
  succeeded = 0
  repeated = 0
  failed = 0
  /** Milliseconds: the longest time in which nobody's request succeeded, and the longest that one took. */
  away = 0
  longest = 0
  #latest = performance.now()

  begin(): void {
    Object.assign(this, { succeeded: 0, repeated: 0, failed: 0, away: 0, longest: 0 })
    this.#latest = performance.now()
  }

  note(began: number, hasSucceeded: boolean): void {
    const now = performance.now()
    this.longest = Math.max(this.longest, now - began)
    if (!hasSucceeded) {
      this.failed++
      return
    }
    this.succeeded++
    this.away = Math.max(this.away, now - this.#latest)
    this.#latest = now
  }

  /** Waits until so many more have succeeded. */
  async more(count: number): Promise<void> {
    const enough = this.succeeded + count
    await eventually(() => this.succeeded >= enough)
  }
}

/** What the clients of a service see. */
export class Sights {
  readonly reads = new Sight()
  readonly writes = new Sight()
  readonly answers = new Sight()

  begin(): void {
    for (const each of [this.reads, this.writes, this.answers]) each.begin()
  }
}

/** What the client says of a write when an earlier one, which got no answer either, may have been carried out meanwhile. */
export const LATE = 'unknown: an earlier write may have been carried out meanwhile'

/**
 * An ordinary client of the API: after a 503 it repeats the request once, when the answer says. Where it gets no answer, or
 * one that is not the service's own, it repeats a read; of a write it says 503 and that the outcome is unknown.
 */
export class OrdinaryClient extends Client {
  readonly #authorization: string
  readonly #sights: Sights
  /** The domains with a write that got no answer: it may yet be carried out. */
  readonly #open = new Set<string>()

  constructor(url: string, secret: string, sights: Sights) {
    super(url)
    this.#authorization = `Token ${secret}`
    this.#sights = sights
  }

  override async send(method: string, path: string, json?: unknown): Promise<Answer> {
    const sight = this.#sights[method === 'GET' ? 'reads' : 'writes']
    const began = performance.now()
    let answer = await this.#once(method, path, json)
    if (answer.status === 503 && (method === 'GET' || !answer.text.includes('unknown'))) {
      sight.repeated++
      await sleep(1000 * Number(answer.headers['retry-after'] ?? 1))
      answer = await this.#once(method, path, json)
    }
    sight.note(began, answer.status !== 503)
    if (method === 'GET') return answer
    const domain = /[\w-]+\.example/.exec(path + JSON.stringify(json))?.[0] ?? ''
    const isUnknown = answer.text.startsWith('unknown')
    const isFailed = isUnknown || (answer.status >= 400 && answer.status <= 499)
    const wasOpen = isFailed && this.#open.delete(domain)
    if (isUnknown) this.#open.add(domain)
    return wasOpen ? { ...answer, status: 503, text: LATE } : answer
  }

  async #once(method: string, path: string, json: unknown): Promise<Answer> {
    const headers = { authorization: this.#authorization, 'content-type': 'application/json' }
    const body = json === undefined ? null : JSON.stringify(json)
    try {
      const {
        statusCode,
        headers: received,
        body: rest,
      } = await request(`${this.url}/api/v1${path}`, {
        ...{ method, headers, body },
      })
      const text = await rest.text()
      const answer = { status: statusCode, headers: received, text, json: parse(text) }
      if (statusCode < 500 || (statusCode === 503 && answer.json !== undefined)) return answer
      throw new Error(`${statusCode} ${text}`)
    } catch (error) {
      return { status: 503, headers: {}, text: `unknown: ${String(error)}`, json: undefined }
    }
  }
}

/** Reads this path ten times a second, whether or not former requests were answered; resolves with unexpected answers. */
export async function read(api: OrdinaryClient, path: string, isOver: () => boolean): Promise<string[]> {
  const answers: Promise<Answer>[] = []
  while (!isOver()) {
    answers.push(api.get(path))
    await sleep(100)
  }
  const all = await Promise.all(answers)
  return all.filter(({ status }) => status !== 200 && status !== 503).map(({ status, text }) => `${status} ${text}`)
}

/**
 * Asks for an address until `isOver`, as resolvers do: a server that does not answer within a second, or not well, and
 * then the other, twice.
 */
export async function resolve(
  name: string,
  address: string,
  servers: string[],
  sight: Sight,
  isOver: () => boolean,
): Promise<string[]> {
  const wrong: string[] = []
  while (!isOver()) {
    // One that remembers nothing of what was lost.
    const resolver = new Resolver({ timeout: 1000, tries: 2 })
    resolver.setServers(servers)
    const began = performance.now()
    const found = await resolver.resolve4(name).catch((error: unknown) => [String(error)])
    const isAnswer = found.join() === address
    if (!isAnswer) wrong.push(found.join())
    sight.note(began, isAnswer)
    await sleep(20)
  }
  return wrong
}
