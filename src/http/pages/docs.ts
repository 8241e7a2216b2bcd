import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { NotFound } from '../../errors.ts'
import { answerText } from '../kit/answer.ts'
import { parsedUrl } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { docsPage, POLICY } from './docs-page.ts'

/**
 * What setup.mjs copies from Swagger UI, unchanged but compressed. The product does not depend on the package, because
 * that brings another one, whose install script reports to a third party.
 */
const FOLDER = join(import.meta.dirname, '..', '..', '..', 'swagger-ui')

/** The assets of the page, with their media types. */
const ASSETS = new Map([
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['swagger-ui.css', 'text/css'],
])

/** Shows the OpenAPI document to people, who can send requests from there (contract §15.2). */
export async function showDocs(ctx: Context): Promise<void> {
  const { version } = JSON.parse(await readFile(join(FOLDER, 'package.json'), 'utf8')) as { version: string }
  ctx.set('Content-Type', 'text/html; charset=utf-8')
  ctx.set('Content-Security-Policy', POLICY)
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.body = docsPage(parsedUrl(ctx).host, version)
}

/** Sends an asset of the page compressed, which every browser can read. */
export async function showAsset(ctx: Context): Promise<void> {
  const name = ctx.params['asset']!
  const mediaType = ASSETS.get(name)
  if (mediaType === undefined) throw new NotFound()
  const body = await readFile(join(FOLDER, `${name}.gz`))
  ctx.set('Content-Encoding', 'gzip')
  // The page's links name the version.
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
  answerText(ctx, 200, body, mediaType)
}
