import type Koa from 'koa'
import type { Config } from '../../settings/config.ts'
import { answerEmpty } from '../kit/answer.ts'
import type { AppContext } from '../kit/context.ts'

const EXPOSED =
  'Link, Retry-After, Location, ETag, RateLimit, RateLimit-Policy, Preference-Applied, Zoneplane-Publication, Zoneplane-Version'
const PREFLIGHT = {
  'Access-Control-Allow-Headers':
    'accept, authorization, content-type, prefer, user-agent, x-api-key, x-csrftoken, x-requested-with, zoneplane-message',
  'Access-Control-Allow-Methods': 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
  'Access-Control-Max-Age': '86400',
}

/** Returns the headers of every response, including those to requests that Node refuses (contract §1.6). */
export function commonHeaders(config: Config): Record<string, string> {
  const https = config.publicUrl?.startsWith('https:') === true
  return {
    Vary: 'origin',
    'X-Content-Type-Options': 'nosniff',
    ...(https && { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains; preload' }),
  }
}

/** Sets the headers that do not depend on the resource, including CORS; answers preflights (contract §1.6). */
export async function headers(ctx: AppContext, next: Koa.Next): Promise<void> {
  ctx.set(commonHeaders(ctx.state.system.config))
  if (ctx.get('Origin') !== '') {
    ctx.set('Access-Control-Allow-Origin', '*')
    ctx.set('Access-Control-Expose-Headers', EXPOSED)
    if (ctx.method === 'OPTIONS') ctx.set(PREFLIGHT)
  }
  if (ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '') answerEmpty(ctx, 200)
  else await next()
  if (ctx.status >= 200 && ctx.status < 300 && !ctx.res.hasHeader('Cache-Control')) {
    ctx.set('Cache-Control', 'no-cache')
  }
}
