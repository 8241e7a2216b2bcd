import { authenticateForDomain as authenticateSecret } from '../../service/authentication.ts'
import type { Middleware } from '../context.ts'
import { credentials } from './authenticate.ts'

/** Lets through who presents a valid token, to below a domain that exists for him (contract §1.2, steps 4 and 5). */
export const authenticateForDomain: Middleware = async function authenticateForDomain(ctx, next) {
  const { system } = ctx.state
  const { secret, address } = credentials(ctx)
  Object.assign(ctx.state, await authenticateSecret(system, secret, address, ctx.params['name']!))
  await next()
}
