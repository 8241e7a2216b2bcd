import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Duplex, finished, Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { Throttled } from '../../errors.ts'
import type { Budget, Holder, Release } from '../../flow/budget.ts'
import { KEEPING_TIME, PLACE_TIME } from '../../limits.ts'
import { groupOf, networkOf } from '../../service/throttling/callers.ts'
import { holderOf } from '../kit/answer.ts'
import { callerOf } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { Refusal } from '../kit/refusal.ts'

/** The places of a body in its budget, from the arrival of its octets until the client has taken the response. */
export class Places {
  readonly holder: Holder
  readonly #budget: Budget
  readonly #caller: string
  readonly #gone: AbortSignal
  readonly #taken: Release[] = []

  constructor(ctx: Context) {
    const { bodies } = ctx.state.system.bounds
    const caller = callerOf(ctx)
    const isStranger = typeof caller === 'string'
    this.#budget = isStranger ? bodies.strangers : bodies.accounts
    this.#caller = `bodies of ${isStranger ? networkOf(caller) : groupOf(caller)}`
    this.#gone = ctx.state.system.patience!.gone
    // The response to a write cannot be refused, and may be as large.
    this.holder = holderOf(ctx, KEEPING_TIME)
  }

  /** Takes places at once; returns false if there is no room. */
  tryTake(count: number): boolean {
    const release = this.#budget.tryTake(this.#caller, { count, holder: this.holder })
    if (release !== undefined) this.#taken.push(release)
    return release !== undefined
  }

  /** Takes places when there is room. @throws Throttled */
  async take(count: number): Promise<void> {
    const patience = { left: PLACE_TIME, gone: this.#gone }
    try {
      this.#taken.push(await this.#budget.take(this.#caller, patience, { count, holder: this.holder }))
    } catch {
      throw new Throttled(1, 'bodies')
    }
  }

  release(): void {
    for (const release of this.#taken.splice(0)) release()
  }
}

/** Octets of the first piece of a body, and of the largest. */
const PIECE_MIN = 512
const PIECE_MAX = 64 * 1024

/**
 * The body of a request, decompressed, in larger pieces, which have their places. A body may arrive octet by octet, and
 * every piece that is kept costs a hundred octets, and the buffer that it was read into.
 */
export class Gathered extends Transform {
  /** What koa-body reads of them: neither encoding, nor the length of what is compressed. */
  readonly headers: IncomingHttpHeaders
  readonly #places: Places
  readonly #req: IncomingMessage
  readonly #encoding: string
  #decoder: Duplex | undefined
  #piece = Buffer.alloc(0)
  #used = 0

  constructor(places: Places, req: IncomingMessage) {
    super()
    this.#places = places
    this.#req = req
    const { 'content-encoding': encoding = 'identity', 'content-length': length, ...headers } = req.headers
    this.#encoding = encoding
    this.headers = encoding === 'identity' && length !== undefined ? { ...headers, 'content-length': length } : headers
    // The client may be gone after koa-body has stopped listening, because of an earlier error.
    this.on('error', () => undefined)
  }

  /** Begins to take the body from its client. @throws Refusal 415 */
  start(): void {
    this.#decoder = decoderOf(this.#encoding)
    this.#wait()
    finished(this.#req, { writable: false }, (error) => {
      if (error == null) this.#places.holder.end()
      else this.destroy(error)
    })
    this.#decoder?.on('error', (error) => this.destroy(error)).pipe(this)
    this.#req.pipe(this.#decoder ?? this)
  }

  /** Ends a body that has not arrived in time. */
  readonly giveUp = (): void => {
    this.destroy(new Refusal(408, 'Request timed out.'))
  }

  /** Drops the rest of the body, so that the connection can carry the next request. */
  dropRest(): void {
    this.#places.holder.end()
    this.#decoder?.destroy()
    this.#req.unpipe()
    this.#req.resume()
  }

  override _transform(chunk: Buffer, _: unknown, done: TransformCallback): void {
    const free = this.#piece.length - this.#used
    if (chunk.length <= free) {
      this.#keep(chunk)
      done()
      return
    }
    const size = Math.max(chunk.length, Math.min(Math.max(2 * this.#piece.length, PIECE_MIN), PIECE_MAX))
    const goOn = () => {
      this.#push()
      this.#piece = Buffer.allocUnsafe(size)
      this.#keep(chunk)
      done()
    }
    if (this.#places.tryTake(size)) {
      goOn()
      return
    }
    this.#places.holder.end()
    this.#places.take(size).then(() => {
      this.#wait()
      goOn()
    }, done)
  }

  override _flush(done: TransformCallback): void {
    this.#push()
    done()
  }

  /** From now on, only the client can go on. */
  #wait(): void {
    if (!this.#req.complete) this.#places.holder.begin(this.giveUp)
  }

  #keep(chunk: Buffer): void {
    this.#used += chunk.copy(this.#piece, this.#used)
  }

  #push(): void {
    if (this.#used > 0) this.push(this.#piece.subarray(0, this.#used))
    this.#used = 0
  }
}

/** Returns what decompresses a body; undefined if it is not compressed. @throws Refusal 415 */
function decoderOf(encoding: string): Duplex | undefined {
  switch (encoding) {
    case 'identity':
      return undefined
    case 'gzip':
    case 'deflate':
      return createUnzip()
    case 'br':
      return createBrotliDecompress()
    default:
      throw new Refusal(415, 'Unsupported content encoding in request.')
  }
}
