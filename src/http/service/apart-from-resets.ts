import type Koa from 'koa'
import { enterRequests } from '../../service/ci/reset.ts'
import type { AppContext } from '../kit/context.ts'

/** Where a service that may be controlled is reset. */
export const RESET_PATH = '/ci/reset'

/** Lets no request run while the service is reset: each comes wholly before a reset, or wholly after it. */
export async function apartFromResets(ctx: AppContext, next: Koa.Next): Promise<void> {
  const leave = ctx.path.replace(/\/$/, '') === RESET_PATH ? undefined : await enterRequests(ctx.state.system)
  try {
    await next()
  } finally {
    leave?.()
  }
}
