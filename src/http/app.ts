import Koa from 'koa'
import { TAKING_TIME } from '../limits.ts'
import type { System } from '../system.ts'
import { webConsole } from './console/console.ts'
import type { AppContext, State } from './kit/context.ts'
import { errors } from './middleware/errors.ts'
import { headers } from './middleware/headers.ts'
import { requestLog } from './middleware/request-log.ts'
import { hostNames, paths, refuseInvalidHost } from './middleware/request-target.ts'
import { createRouter } from './router.ts'

/** Creates the HTTP interface of a system: the middleware that every request passes, in this order. */
export function createApp(system: System): Koa<State> {
  const app = new Koa<State>()
  // An error after the response has begun, except a departed client. Without a listener, Koa prints it as text.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') system.log.error('unexpected error', { error: error.stack })
  })
  app.use(async function attachSystem(ctx, next) {
    ctx.state.system = system
    // The Node of Debian 13 accepts the method QUERY, but does not name it.
    if ((ctx.method as string | undefined) === undefined) ctx.method = 'QUERY'
    await next()
  })
  app.use(leaveStalled)
  app.use(requestLog)
  app.use(errors)
  app.use(headers)
  app.use(refuseInvalidHost)
  app.use(hostNames)
  app.use(paths)
  app.use(webConsole)
  app.use(createRouter(system.config).router.routes())
  return app
}

/** Closes a connection whose client takes nothing of the response (contract §1.5). */
async function leaveStalled({ res }: AppContext, next: Koa.Next): Promise<void> {
  await next()
  res.setTimeout(TAKING_TIME)
}
