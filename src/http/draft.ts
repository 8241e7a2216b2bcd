import { Readable } from 'node:stream'
import { Busy } from '../errors.ts'
import { ANSWER_PIECE, TAKING_TIME } from '../limits.ts'
import { identityOf } from '../service/throttling/throttling.ts'
import { callerOf } from './client.ts'
import type { AppContext } from './context.ts'

/** Why a request is refused that would make a process hold too much. */
export const UNREAD = 'Too many octets of responses wait for clients to read them.'

/**
 * A large response in the making. What it holds counts for the caller until the client has taken it or is gone (contract
 * §1.5), or, if it is not sent, until disposal.
 */
export class Draft implements Disposable {
  readonly #ctx: AppContext
  readonly #caller: string
  #length = 0
  /** Those octets that count. */
  #octets = 0

  constructor(ctx: AppContext) {
    this.#ctx = ctx
    this.#caller = identityOf(callerOf(ctx))
  }

  /**
   * A part of the response. A response of up to ANSWER_PIECE does not count, so it is never refused.
   * @throws Busy if too many octets of responses wait for clients
   */
  hold(text: string): Buffer {
    const part = Buffer.from(text)
    this.#length += part.length
    if (this.#length <= ANSWER_PIECE) return part
    const more = this.#length - this.#octets
    if (!this.#room.hold(this.#caller, more)) throw new Busy(UNREAD)
    this.#octets += more
    return part
  }

  /**
   * Makes the response when the caller's earlier ones are made. After a large one the next must wait for as long as it
   * took, so that one caller does not take all the time of the processor. @throws Busy
   */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.#ctx.state.system.queues.take(`responses ${this.#caller}`)
    const start = performance.now()
    try {
      return await work()
    } finally {
      if (this.#length > ANSWER_PIECE) setTimeout(leave, performance.now() - start)
      else leave()
    }
  }

  /** Like `hold`, but for the response to what was done already, and hence cannot be refused. */
  holdAnyway(text: string): Buffer {
    const part = Buffer.from(text)
    this.#room.add(this.#caller, part.length)
    this.#octets += part.length
    return part
  }

  /** Sends the parts as the client takes them; closes a connection that takes no piece for TAKING_TIME. */
  send(status: number, mediaType: string, parts: Buffer[]): void {
    const ctx = this.#ctx
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    ctx.status = status
    ctx.set('Content-Type', mediaType)
    if (ctx.method === 'HEAD') ctx.body = ''
    else if (length > ANSWER_PIECE) ctx.body = this.#stream(parts)
    else ctx.body = Buffer.concat(parts)
    ctx.length = length
  }

  #stream(parts: Buffer[]): Readable {
    const { req, res } = this.#ctx
    const octets = this.#octets
    this.#octets = 0
    const timer = setTimeout(() => {
      req.socket.destroy()
      stream.destroy()
    }, TAKING_TIME)
    res.once('close', () => {
      clearTimeout(timer)
    })
    const stream = Readable.from(pieces(parts, () => timer.refresh()))
    return stream.once('close', () => {
      this.#room.release(this.#caller, octets)
    })
  }

  [Symbol.dispose](): void {
    this.#room.release(this.#caller, this.#octets)
  }

  get #room() {
    return this.#ctx.state.system.answers
  }
}

/** @param taken called before each piece but the first */
function* pieces(parts: Buffer[], taken: () => void): Generator<Buffer> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    for (let from = 0; from < part.length; from += ANSWER_PIECE) {
      yield part.subarray(from, from + ANSWER_PIECE)
      taken()
    }
  }
}
