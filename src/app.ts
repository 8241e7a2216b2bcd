import Koa from 'koa'
import type { State } from './http/context.ts'
import { apartFromResets } from './http/middleware/apart-from-resets.ts'
import { errors } from './http/middleware/errors.ts'
import { headers } from './http/middleware/headers.ts'
import { hostNames, refuseInvalidHost } from './http/middleware/host-names.ts'
import { paths } from './http/middleware/paths.ts'
import { requestLog } from './http/middleware/request-log.ts'
import { createRouter } from './http/router.ts'
import type { System } from './system.ts'

/** The HTTP interface of a system: the middleware that every request passes, in this order. */
export function createApp(system: System): Koa<State> {
  const app = new Koa<State>()
  // What fails after the response has begun. Without a listener, Koa prints it as text.
  app.on('error', (error: Error) => system.log.error('unexpected', { error: error.stack }))
  app.use(async function attachSystem(ctx, next) {
    ctx.state.system = system
    // The Node of Debian 13 accepts the method QUERY, but does not name it.
    if ((ctx.method as string | undefined) === undefined) ctx.method = 'QUERY'
    await next()
  })
  app.use(requestLog)
  app.use(errors)
  app.use(headers)
  app.use(refuseInvalidHost)
  app.use(hostNames)
  app.use(paths)
  if (system.config.ciControl) app.use(apartFromResets)
  app.use(createRouter(system.config).router.routes())
  return app
}
