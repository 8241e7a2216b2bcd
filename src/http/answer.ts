import { ANSWER_PIECE } from '../limits.ts'
import { stringify } from '../slices.ts'
import type { AppContext } from './context.ts'
import { Draft } from './draft.ts'

/** Responds with compact JSON of exactly this media type (contract §1.5). */
export function answer(ctx: AppContext, status: number, body: unknown): void {
  answerText(ctx, status, JSON.stringify(body), 'application/json')
}

/** Like `answer`, but lets other requests run while it prints a long array. */
export async function answerItems(ctx: AppContext, status: number, items: readonly unknown[]): Promise<void> {
  answerText(ctx, status, await stringify(items), 'application/json')
}

/** Responds with text of exactly this media type (contract §1.5). */
export function answerText(ctx: AppContext, status: number, text: string, mediaType = 'text/plain'): void {
  if (text.length > ANSWER_PIECE) {
    using draft = new Draft(ctx)
    draft.send(status, mediaType, [draft.holdAnyway(text)])
    return
  }
  ctx.status = status
  ctx.set('Content-Type', mediaType)
  ctx.body = text
}

/** Responds without a body. */
export function answerEmpty(ctx: AppContext, status: number): void {
  ctx.body = status === 204 ? null : ''
  ctx.status = status
  ctx.remove('Content-Type')
}
