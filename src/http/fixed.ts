import { createHash } from 'node:crypto'
import { answerEmpty, answerText } from './answer.ts'
import { conditions, setTag } from './conditional.ts'
import type { Context } from './context.ts'

/** A text that stays the same while the process runs. */
export interface Fixed {
  mediaType: string
  text: string
  /** A hash of the text. */
  tag: string
}

export function fixed(mediaType: string, text: string): Fixed {
  return { mediaType, text, tag: createHash('sha256').update(text).digest('base64url').slice(0, 22) }
}

/** Responds with the text, or with 304 if the client has it already (RFC 9110 §13.1.2). */
export function answerFixed(ctx: Context, { mediaType, text, tag }: Fixed): void {
  const { noneMatch } = conditions(ctx)
  setTag(ctx, tag)
  if (noneMatch === '*' || noneMatch?.includes(tag) === true) answerEmpty(ctx, 304)
  else answerText(ctx, 200, text, mediaType)
}
