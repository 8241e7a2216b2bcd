import type Koa from 'koa'
import { NotFound } from '../../errors.ts'

/**
 * Decodes and re-encodes each segment of the path, so that all spellings of a path reach the same resource (contract
 * §1.1). A segment with invalid UTF-8 or an encoded slash is 404.
 */
export async function paths(ctx: Koa.Context, next: Koa.Next): Promise<void> {
  ctx.path = pathOf(ctx).split('/').map(normalise).join('/')
  await next()
}

/** The path of the request's target. @throws NotFound if the target cannot be parsed, such as `http://[`, or has none */
export function pathOf(ctx: Koa.Context): string {
  const path = parsed(ctx)
  if (path === null) throw new NotFound()
  return path
}

/** Koa throws some errors, and finds no path in `//=?a=\@#`. */
function parsed(ctx: Koa.Context): string | null {
  try {
    return ctx.path
  } catch {
    return null
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
