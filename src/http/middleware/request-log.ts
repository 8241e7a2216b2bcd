import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import type { State } from '../context.ts'

/** Gives the request an id and writes one line when it is answered; no path, query or header, which may hold secrets. */
export async function requestLog(ctx: Koa.ParameterizedContext<State>, next: Koa.Next): Promise<void> {
  const given = ctx.get('X-Request-Id')
  ctx.state.requestId = /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()
  ctx.set('X-Request-Id', ctx.state.requestId)
  const start = performance.now()
  await next()
  // Only now is it known which parts of the chain ran.
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
