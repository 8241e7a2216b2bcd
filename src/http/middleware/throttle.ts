import type { Scope } from '../../limits.ts'
import type { Middleware } from '../context.ts'

/**
 * Lets through whom the rates of a scope, and those of `user`, allow another request (contract §14). Whoever is not
 * known by a token is known by his address; scopes per domain count under the one that was looked up.
 * @param scope one for all methods, or one for those that only read and one for the others
 */
export function throttle(scope: Scope | { reads: Scope; writes: Scope }): Middleware {
  const { reads, writes } = typeof scope === 'string' ? { reads: scope, writes: scope } : scope
  return async function throttle(ctx, next) {
    ctx.state.scope = ctx.method === 'GET' || ctx.method === 'HEAD' ? reads : writes
    await next()
  }
}
