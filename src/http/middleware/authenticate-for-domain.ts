import { NotFound } from '../../errors.ts'
import { authenticateAndLookUp } from '../../service/domains/domains.ts'
import { refuseMfaPending } from '../../service/tokens/authentication.ts'
import type { Middleware } from '../context.ts'
import { credentials } from './authenticate.ts'

/** Lets through who presents a valid token, to below a domain that exists for him (contract §1.2, steps 4 and 5). */
export const authenticateForDomain: Middleware = async function authenticateForDomain(ctx, next) {
  const { secret, address } = credentials(ctx)
  const { actor, domain } = await authenticateAndLookUp(ctx.state.system, secret, address, ctx.params['name']!)
  ctx.state.actor = actor
  refuseMfaPending(actor)
  if (domain === undefined) throw new NotFound()
  ctx.state.domain = domain
  await next()
}
