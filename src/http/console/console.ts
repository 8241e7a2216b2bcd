import type Koa from 'koa'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { NotFound } from '../../errors.ts'
import { answerText } from '../kit/answer.ts'
import { parsedUrl } from '../kit/caller.ts'
import type { AppContext } from '../kit/context.ts'
import { Refusal } from '../kit/refusal.ts'

/** What console/build.mjs makes: the page, and its assets, compressed. */
const FOLDER = join(import.meta.dirname, '..', '..', '..', 'web')

/** The names of assets, which contain hashes of their contents. */
const ASSET = /^\/console\/assets\/((?:chunk|later|main|qr)-[\dA-Z]+\.(js|css))$/

const MEDIA_TYPES: Record<string, string> = { js: 'text/javascript', css: 'text/css' }

/** Allows only the console's own assets, and requests to its own origin; forbids frames and markup from strings. */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src data:`,
  `connect-src 'self'`,
  `form-action 'none'`,
  `base-uri 'self'`,
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
].join('; ')

/**
 * Serves the console (contract §13): its assets, and one page for all other paths below `/console`, which shows what the
 * path names.
 */
export async function webConsole(ctx: AppContext, next: Koa.Next): Promise<void> {
  if (!/^\/console(\/|$)/.test(ctx.path) || !ctx.state.system.config.console) {
    await next()
    return
  }
  ctx.state.route = '/console'
  ctx.set('Allow', 'GET, HEAD, OPTIONS')
  if (!['GET', 'HEAD'].includes(ctx.method)) throw new Refusal(405, `Method "${ctx.method}" not allowed.`)
  const [, name, extension] = ASSET.exec(ctx.path) ?? []
  if (name !== undefined) await sendAsset(ctx, name, MEDIA_TYPES[extension!]!)
  else await sendPage(ctx)
}

/** Sends an asset compressed, which every browser can read. */
async function sendAsset(ctx: AppContext, name: string, mediaType: string): Promise<void> {
  const body = await readFile(join(FOLDER, 'assets', `${name}.gz`)).catch(() => {
    // A page of an earlier version names other assets.
    throw new NotFound()
  })
  ctx.set('Content-Encoding', 'gzip')
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
  answerText(ctx, 200, body, mediaType)
}

async function sendPage(ctx: AppContext): Promise<void> {
  const page = await readFile(join(FOLDER, 'index.html'), 'utf8')
  ctx.set('Content-Security-Policy', POLICY)
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  // A proxy may serve all this below a path.
  const base = parsedUrl(ctx).pathname.replace(/\/$/, '')
  answerText(ctx, 200, page.replace('"/console/"', `"${base}/console/"`), 'text/html; charset=utf-8')
}
