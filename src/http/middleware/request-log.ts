import type Koa from 'koa'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Patience } from '../../flow/budget.ts'
import { TURN_TIMEOUT } from '../../limits.ts'
import { isLikeSecret } from '../../service/tokens/secrets.ts'
import { loggedAddress } from '../kit/caller.ts'
import type { AppContext, State } from '../kit/context.ts'
import { METHODS } from '../kit/resource.ts'

/**
 * Gives the request an id and its patience, takes over the id of the trace to which it belongs, and logs one line after
 * the response. The line has no path, query or header, which may contain secrets.
 */
export async function requestLog(ctx: AppContext, next: Koa.Next): Promise<void> {
  const given = ctx.get('X-Request-Id')
  const isFit = /^[A-Za-z0-9._-]{1,128}$/.test(given) && !isLikeSecret(given)
  const request = isFit ? given : randomUUID()
  ctx.set('X-Request-Id', request)
  // Every line that the request causes has its id.
  const { system } = ctx.state
  const trace = traceOf(ctx.get('traceparent'))
  const log = system.log.child({ request, ...(trace !== undefined && { trace }) })
  const address = loggedAddress(ctx)
  ctx.state.system = { ...system, request, address, log, patience: patienceOf(ctx.res) }
  const start = performance.now()
  await next()
  // The request may have failed before the route or the actor was set.
  const { route, actor } = ctx.state as Partial<State>
  measure(ctx, route, start)
  ctx.state.system.log.info('request', {
    address,
    method: ctx.method,
    route: route ?? null,
    status: ctx.status,
    ms: Math.round((performance.now() - start) * 1000) / 1000,
    account: actor?.accountId ?? null,
    token: actor?.tokenId ?? null,
  })
}

/** Returns the patience of a request. Its signal is made when it is first asked for: few requests wait. */
function patienceOf(res: ServerResponse): Patience {
  let gone: AbortSignal | undefined
  return {
    left: TURN_TIMEOUT,
    get gone() {
      return (gone ??= goneSignal(res))
    },
  }
}

/** Returns a signal that aborts once the response is sent, or its client is gone. */
function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController()
  const leave = () => {
    gone.abort('closed')
  }
  if (res.closed) leave()
  else res.once('close', leave)
  return gone.signal
}

/** Reads the trace-id of a `traceparent` header (W3C Trace Context §3.2); undefined if it is absent or invalid. */
function traceOf(header: string): string | undefined {
  const [, version, trace, parent, more] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/.exec(header) ?? []
  // Versions after the present one, 00, may have more fields.
  const isVersion = version !== 'ff' && !(version === '00' && more !== undefined)
  return isVersion && /[^0]/.test(trace ?? '') && /[^0]/.test(parent ?? '') ? trace : undefined
}

/** Measures the request. Routes are those of the router, and methods those of the API: clients can add no series. */
function measure(ctx: AppContext, route = 'none', start: number): void {
  const { metrics } = ctx.state.system
  if (metrics === undefined) return
  const method = KNOWN.includes(ctx.method) ? ctx.method : 'other'
  metrics.count('zoneplane_http_requests_total', { route, method, status: `${Math.floor(ctx.status / 100)}xx` })
  metrics.time('zoneplane_http_request_duration_seconds', { route, method }, start)
}

const KNOWN: readonly string[] = [...METHODS, 'HEAD', 'OPTIONS']
