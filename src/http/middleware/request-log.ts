import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import type { AppContext, State } from '../context.ts'

/**
 * Gives the request an id, and logs one line after the response. The line has no path, query or header, which may
 * contain secrets.
 */
export async function requestLog(ctx: AppContext, next: Koa.Next): Promise<void> {
  const given = ctx.get('X-Request-Id')
  ctx.state.requestId = /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()
  ctx.set('X-Request-Id', ctx.state.requestId)
  const start = performance.now()
  await next()
  // The request may have failed before the route or the actor was set.
  const { system, requestId, route, actor } = ctx.state as Partial<State> & Pick<State, 'system'>
  system.log.info('request', {
    request: requestId,
    method: ctx.method,
    route: route ?? null,
    status: ctx.status,
    ms: Math.round((performance.now() - start) * 1000) / 1000,
    account: actor?.accountId ?? null,
    token: actor?.tokenId ?? null,
  })
}
