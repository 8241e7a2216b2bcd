import { once } from 'node:events'
import { finished, Readable } from 'node:stream'
import { Holder } from '../../flow/budget.ts'
import { stringify } from '../../flow/slices.ts'
import { EXPORT_TIME } from '../../limits.ts'
import { groupOf } from '../../service/throttling/callers.ts'
import type { AppContext, Context } from './context.ts'

/** Responds with compact JSON of exactly this media type (contract §1.5). */
export function answer(ctx: AppContext, status: number, body: unknown): void {
  answerText(ctx, status, JSON.stringify(body), 'application/json')
}

/** Responds like `answer`, with what no cache may store: a secret, or what is for one use. */
export function answerUncached(ctx: AppContext, status: number, body: unknown): void {
  ctx.set('Cache-Control', 'no-store')
  answer(ctx, status, body)
}

/** Responds like `answer` with an array, but lets other requests run in between. */
export async function answerItems(ctx: AppContext, status: number, items: unknown[]): Promise<void> {
  answerText(ctx, status, await stringify(items), 'application/json')
}

/** Responds with text of exactly this media type (contract §1.5). */
export function answerText(ctx: AppContext, status: number, text: string | Buffer, mediaType = 'text/plain'): void {
  ctx.status = status
  ctx.set('Content-Type', mediaType)
  ctx.body = text
}

/**
 * Streams text as fast as the client takes it. A failure before the first part is thrown; a later one breaks the connection.
 * @param parts makes it; its argument breaks the connection
 */
export async function answerStream(
  ctx: AppContext,
  status: number,
  mediaType: string,
  parts: (breakOff: () => void) => AsyncIterable<string>,
): Promise<void> {
  const breakOff = () => ctx.res.destroy()
  const stream = Readable.from(parts(breakOff))
  await once(stream, 'readable')
  const late = setTimeout(breakOff, EXPORT_TIME)
  stream.once('close', () => {
    clearTimeout(late)
  })
  ctx.status = status
  ctx.set('Content-Type', mediaType)
  ctx.body = stream
}

/** Responds without a body. */
export function answerEmpty(ctx: AppContext, status: number): void {
  ctx.body = status === 204 ? null : ''
  ctx.status = status
  ctx.remove('Content-Type')
}

/** Returns a holder of places, which waits for its client once the response is made; it loses them with its connection. */
export function holderOf({ res }: AppContext, ownTime?: number): Holder {
  const holder = new Holder(ownTime)
  res.once('prefinish', () => {
    holder.begin(() => res.destroy())
  })
  return holder
}

/**
 * Waits until the caller's group has few enough large responses in flight. A response counts until the client has taken
 * it, or is gone (contract §1.8). @throws Busy
 */
export async function joinReaders(ctx: Context): Promise<void> {
  const { system, actor } = ctx.state
  const caller = `readers of ${groupOf(actor)}`
  finished(ctx.res, await system.bounds.readers.take(caller, system.patience, { holder: holderOf(ctx) }))
}
