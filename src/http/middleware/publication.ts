import type Koa from 'koa'
import { PUBLICATION_WAIT } from '../../limits.ts'
import { statusOf, type Patience } from '../../service/domains/publications.ts'
import type { Published } from '../../system.ts'
import { withEffect, type Context } from '../context.ts'
import type { Effect } from '../openapi/effect.ts'

const EFFECT: Effect = {
  reads: ['Prefer'],
  tells: ['Zoneplane-Version', 'Preference-Applied', 'Zoneplane-Publication'],
}

/**
 * Tells which version of its domain a write has published. Holds the answer until that version is served, or as long as
 * the client prefers to wait (contract §15.6; RFC 7240 §4.3).
 */
export const reportPublication = withEffect(EFFECT, async function reportPublication(ctx: Context, next: Koa.Next) {
  const published: Published[] = []
  ctx.state.system = { ...ctx.state.system, published }
  await next()
  // The first: a new domain is published before its delegation in another zone.
  const [own] = published
  if (own?.version === undefined || ctx.status >= 300) return
  const { zone: name, version } = own
  ctx.set('Zoneplane-Version', String(version))
  const wait = preferredWait(ctx.get('Prefer'))
  if (wait === 0) return
  const { system } = ctx.state
  // The write is done: whatever fails now must not look as if it had failed.
  const outcome = await statusOf(system, { name, version, published: system.now() }, patience(ctx, wait)).catch(() => ({
    status: 'PENDING',
    waited: false,
  }))
  if (outcome.waited) ctx.set('Preference-Applied', `wait=${wait}`)
  ctx.set('Zoneplane-Publication', outcome.status)
})

/** How long a request of this client waits: not longer than its connection lasts. */
export function patience(ctx: Context, wait: number): Patience {
  const leaving = new AbortController()
  ctx.res.once('close', () => {
    leaving.abort()
  })
  return { accountId: ctx.state.actor.accountId, wait, gone: leaving.signal }
}

/** The seconds of the preference `wait`, PUBLICATION_WAIT at most; 0 without it. */
function preferredWait(prefer: string): number {
  const [, seconds = '0'] = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[;,]|$)/i.exec(prefer) ?? []
  return Math.min(Number(seconds), PUBLICATION_WAIT)
}
