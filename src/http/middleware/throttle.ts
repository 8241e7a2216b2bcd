import { Throttled } from '../../errors.ts'
import type { Scope } from '../../limits.ts'
import { admit } from '../../service/throttling/throttling.ts'
import { callerOf } from '../kit/caller.ts'
import { type Middleware, type State, withEffect } from '../kit/context.ts'
import type { Effect } from '../kit/effect.ts'
import { isDryRun } from '../kit/terms.ts'
import { statusOf } from './errors.ts'

const EFFECT: Effect = { errors: { 429: [] }, responseHeaders: ['RateLimit-Policy', 'RateLimit'] }

/** Scopes that count the requests to each domain separately. */
const PER_DOMAIN: Scope[] = ['dns_api_per_domain_expensive', 'dyndns']

/**
 * Requires that the rates of a scope, and of tokens those of `user`, allow another request; sets the `RateLimit` headers
 * (contract §14). A request counts for the authenticated token and its account, otherwise for the client's address. The
 * client's mistakes are taken back from the lasting windows.
 * @param scope one for all methods, or one for reads and one for writes; and one for dry runs, if it has them
 */
export function throttle(scope: Scope | { reads: Scope; writes: Scope; dryRuns?: Scope }): Middleware {
  const { reads, writes, dryRuns = writes } = typeof scope === 'string' ? { reads: scope, writes: scope } : scope
  return withEffect(EFFECT, async function throttle(ctx, next) {
    // Only an earlier guard can have set the domain.
    const { system, domain } = ctx.state as Pick<State, 'system'> & Partial<State>
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
    const chosen = isRead ? reads : isDryRun(ctx) ? dryRuns : writes
    const verdict = await admit(system, chosen, callerOf(ctx), PER_DOMAIN.includes(chosen) ? domain : undefined)
    if (verdict !== undefined) {
      const { scope, quota, length, remaining, seconds } = verdict.tightest
      ctx.set('RateLimit-Policy', `"${scope}";q=${quota};w=${length}`)
      ctx.set('RateLimit', `"${scope}";r=${remaining};t=${seconds}`)
      if (verdict.retryAfter !== undefined) throw new Throttled(verdict.retryAfter, verdict.exceeded)
    }
    let status: number | undefined
    try {
      await next()
      status = ctx.status
    } catch (error) {
      status = statusOf(error)
      throw error
    } finally {
      if (isMistake(status)) await verdict?.takeBack()
    }
  })
}

/** Reports whether the client has made a mistake; with 429, it has perhaps made none. */
function isMistake(status = 500): boolean {
  return status >= 400 && status < 500 && status !== 429
}
