import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import { loggedAddress } from '../client.ts'
import type { AppContext, State } from '../context.ts'

/**
 * Gives the request an id, and logs one line after the response. The line has no path, query or header, which may
 * contain secrets.
 */
export async function requestLog(ctx: AppContext, next: Koa.Next): Promise<void> {
  const given = ctx.get('X-Request-Id')
  const request = /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()
  ctx.set('X-Request-Id', request)
  // Every line that the request causes has its id.
  const { system } = ctx.state
  ctx.state.system = { ...system, request, log: system.log.child({ request }) }
  const start = performance.now()
  await next()
  // The request may have failed before the route or the actor was set.
  const { route, actor } = ctx.state as Partial<State>
  ctx.state.system.log.info('request', {
    address: loggedAddress(ctx),
    method: ctx.method,
    route: route ?? null,
    status: ctx.status,
    ms: Math.round((performance.now() - start) * 1000) / 1000,
    account: actor?.accountId ?? null,
    token: actor?.tokenId ?? null,
  })
}
