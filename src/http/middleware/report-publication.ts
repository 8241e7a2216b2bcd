import type Koa from 'koa'
import { PUBLICATION_WAIT } from '../../limits.ts'
import { type Patience, statusOf } from '../../service/domains/serving-status.ts'
import { groupOf } from '../../service/throttling/callers.ts'
import { type Context, withEffect } from '../kit/context.ts'
import type { Effect } from '../kit/effect.ts'

const EFFECT: Effect = {
  reads: ['Prefer'],
  responseHeaders: ['Zoneplane-Version', 'Preference-Applied', 'Zoneplane-Publication'],
}

/**
 * Reports the version of its domain that a write has published. Holds the answer until that version is served, or as
 * long as the client prefers to wait (contract §15.6; RFC 7240 §4.3).
 */
export const reportPublication = withEffect(EFFECT, async function reportPublication(ctx: Context, next: Koa.Next) {
  await next()
  const { system, domain, version } = ctx.state
  if (version === undefined) return
  ctx.set('Zoneplane-Version', String(version))
  const wait = preferredWait(ctx.get('Prefer'))
  if (wait === 0) return
  const publication = { ...domain, version, published: system.now() }
  // The write is done: a later failure must not look like its failure.
  const asked = statusOf(system, publication, patience(ctx, wait))
  const outcome = await asked.catch(() => ({ status: 'PENDING', waited: false }))
  if (outcome.waited) ctx.set('Preference-Applied', `wait=${wait}`)
  ctx.set('Zoneplane-Publication', outcome.status)
})

/** Returns the time that a request of this client waits: not longer than its connection lasts. */
export function patience({ state: { system, actor } }: Context, wait: number): Patience {
  return { group: groupOf(actor), wait, gone: system.patience!.gone }
}

/** Returns the seconds of the preference `wait`, PUBLICATION_WAIT at most; 0 without it. */
function preferredWait(prefer: string): number {
  const [, seconds = '0'] = /(?:^|,)\s*wait\s*=\s*"?(\d+)"?\s*(?:[;,]|$)/i.exec(prefer) ?? []
  return Math.min(Number(seconds), PUBLICATION_WAIT)
}
