import { lookUp, visible } from '../../service/domains.ts'
import type { Middleware } from '../context.ts'
import { identify } from './authenticate.ts'

/**
 * Lets through who presents a valid token, to below a domain that exists for him (contract §1.2, steps 4 and 5). Both
 * are looked up at once; what is wrong with the token is told first.
 */
export const authenticateForDomain: Middleware = async function authenticateForDomain(ctx, next) {
  const [actor, domain] = await Promise.allSettled([identify(ctx), lookUp(ctx.state.system, ctx.params['name']!)])
  if (actor.status === 'rejected') throw actor.reason
  if (domain.status === 'rejected') throw domain.reason
  ctx.state.domain = visible(ctx.state.actor, domain.value)
  await next()
}
