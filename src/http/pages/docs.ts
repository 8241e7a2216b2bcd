import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { NotFound } from '../../errors.ts'
import { answerText } from '../kit/answer.ts'
import { parsedUrl } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { docsPage, POLICY } from './docs-page.ts'

const require = createRequire(import.meta.url)
/** Swagger UI, unchanged. Its own package has an install script, which reports to a third party. */
const PACKAGE = '@fastify/swagger-ui'

/** The assets of the page, with their media types. */
const ASSETS = new Map([
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['swagger-ui.css', 'text/css'],
])

/** Shows the OpenAPI document to people, who can send requests from there (contract §15.2). */
export async function showDocs(ctx: Context): Promise<void> {
  const { version } = require(`${PACKAGE}/package.json`) as { version: string }
  ctx.set('Content-Type', 'text/html; charset=utf-8')
  ctx.set('Content-Security-Policy', POLICY)
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.body = docsPage(parsedUrl(ctx).host, version)
}

/** The compressed assets, each from its first request on. */
const compressed = new Map<string, Promise<Buffer>>()

/** Sends an asset of the page compressed, which every browser can read. */
export async function showAsset(ctx: Context): Promise<void> {
  const name = ctx.params['asset']!
  const mediaType = ASSETS.get(name)
  if (mediaType === undefined) throw new NotFound()
  const body = await compress(name)
  ctx.set('Content-Encoding', 'gzip')
  // The page's links name the version.
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
  answerText(ctx, 200, body, mediaType)
}

function compress(name: string): Promise<Buffer> {
  let body = compressed.get(name)
  if (body === undefined) {
    body = readFile(require.resolve(`${PACKAGE}/static/${name}`)).then((text) => promisify(gzip)(text, { level: 9 }))
    // The next request tries again.
    body.catch(() => compressed.delete(name))
    compressed.set(name, body)
  }
  return body
}
