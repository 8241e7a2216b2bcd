import { Throttled } from '../../errors.ts'
import type { Scope } from '../../limits.ts'
import { admit } from '../../service/throttling/throttling.ts'
import { clientAddress } from '../client.ts'
import type { Middleware, State } from '../context.ts'

/** Scopes that count apart what is done to each domain. */
const PER_DOMAIN: Scope[] = ['dns_api_per_domain_expensive', 'dyndns']

/**
 * Lets through whom the rates of a scope, and those of `user`, allow another request, and tells how many are left
 * (contract §14). Whoever is not known by a token is known by his address; what is done to a domain counts for the one
 * that was looked up.
 * @param scope one for all methods, or one for those that only read and one for the others
 */
export function throttle(scope: Scope | { reads: Scope; writes: Scope }): Middleware {
  const { reads, writes } = typeof scope === 'string' ? { reads: scope, writes: scope } : scope
  return async function throttle(ctx, next) {
    // A token and a domain are known only behind what looked them up.
    const { system, actor, domain } = ctx.state as Pick<State, 'system'> & Partial<State>
    const chosen = ctx.method === 'GET' || ctx.method === 'HEAD' ? reads : writes
    const who = actor ?? clientAddress(ctx, system.config.trustedProxies)
    const verdict = await admit(system, chosen, who, PER_DOMAIN.includes(chosen) ? domain?.name : undefined)
    if (verdict !== undefined) {
      const { scope, quota, length, remaining, seconds } = verdict.tightest
      ctx.set('RateLimit-Policy', `"${scope}";q=${quota};w=${length}`)
      ctx.set('RateLimit', `"${scope}";r=${remaining};t=${seconds}`)
      if (verdict.retryAfter !== undefined) throw new Throttled(verdict.retryAfter)
    }
    await next()
  }
}
