import { find } from '../../service/domains.ts'
import type { Middleware } from '../context.ts'

/** Lets through requests below a domain that exists for the caller (contract §1.2, step 5). */
export const ownDomain: Middleware = async function ownDomain(ctx, next) {
  ctx.state.domain = await find(ctx.state.system, ctx.state.actor, ctx.params['name']!)
  await next()
}
