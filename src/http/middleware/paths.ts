import type Koa from 'koa'
import { NotFound } from '../../errors.ts'

/**
 * Decodes each segment of the path once and writes it anew in one way, so that every spelling of a path is routed alike
 * (contract §1.1). Segments that are no UTF-8, or hold a slash, address nothing.
 */
export async function paths(ctx: Koa.Context, next: Koa.Next): Promise<void> {
  ctx.path = pathOf(ctx).split('/').map(normalise).join('/')
  await next()
}

/** The path of the request's target; some that HTTP lets through cannot be read, such as `http://[`. */
export function pathOf(ctx: Koa.Context): string {
  try {
    return ctx.path
  } catch {
    throw new NotFound()
  }
}

function normalise(segment: string): string {
  let text: string
  try {
    text = decodeURIComponent(segment)
  } catch {
    throw new NotFound()
  }
  if (text.includes('/')) throw new NotFound()
  return encodeURIComponent(text)
}
