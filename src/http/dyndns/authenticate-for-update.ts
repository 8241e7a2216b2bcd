import { isUtf8 } from 'node:buffer'
import { Unauthenticated } from '../../errors.ts'
import * as dyndns from '../../service/domains/dyndns.ts'
import { authenticate } from '../../service/tokens/authentication.ts'
import { authorise } from '../../service/tokens/rights.ts'
import { clientAddress } from '../kit/caller.ts'
import { type Context, parameters, withEffect } from '../kit/context.ts'
import type { Effect } from '../kit/effect.ts'
import { authorization, presentedSecret } from '../middleware/authenticate.ts'

const EFFECT: Effect = {
  security: 'update',
  errors: {
    401: ['badauth', 'Invalid token.', 'No username URL parameter provided.', 'No password URL parameter provided.'],
    403: ['You do not have permission to perform this action.'],
    503: [],
  },
}

/**
 * Requires a token for RRsets, in the `Authorization` header (`Token`, otherwise `Basic`) or otherwise in the query
 * (contract §10.2).
 */
export const authenticateForUpdate = withEffect(EFFECT, async function authenticateForUpdate(ctx, next) {
  const { system } = ctx.state
  const address = clientAddress(ctx)
  const secret = presentedSecret(ctx)
  if (secret !== undefined) ctx.state.actor = await authenticate(system, secret, address)
  else {
    const basic = basicCredentials(ctx)
    const { user, secret: password } = basic ?? queryCredentials(ctx)
    ctx.state.user = basic?.user
    ctx.state.actor = await authenticate(system, password, address).catch(asBadAuth)
    if (!(await dyndns.isUser(ctx.state, user))) throw new Unauthenticated('badauth')
  }
  authorise(ctx.state.actor, 'rrsets')
  // The update finds out if the token is no longer usable.
  await (secret === undefined ? next().catch(asBadAuth) : next())
})

/** Converts the error of a token that was sent as a password; for `catch`. */
function asBadAuth(error: unknown): never {
  throw error instanceof Unauthenticated ? new Unauthenticated('badauth') : error
}

/** Reads user name and secret of an `Authorization: Basic` header (RFC 7617); undefined without such a header. */
function basicCredentials(ctx: Context): { user: string; secret: string } | undefined {
  const { scheme, credentials } = authorization(ctx)
  if (scheme !== 'basic') return undefined
  const [encoded] = credentials
  if (encoded === undefined) {
    throw new Unauthenticated('Invalid basic auth token header. No credentials provided.')
  }
  if (credentials.length > 1) {
    throw new Unauthenticated('Invalid basic auth token header. Basic authentication string should not contain spaces.')
  }
  const octets = Buffer.from(encoded, 'base64')
  const [user, secret, ...more] = octets.toString(isUtf8(octets) ? 'utf8' : 'latin1').split(':')
  if (user === undefined || secret === undefined || more.length > 0) throw new Unauthenticated('badauth')
  return { user, secret }
}

function queryCredentials(ctx: Context): { user: string; secret: string } {
  const query = parameters(ctx)
  const user = query.get('username')
  const secret = query.get('password')
  if (user === undefined) throw new Unauthenticated('No username URL parameter provided.')
  if (secret === undefined) throw new Unauthenticated('No password URL parameter provided.')
  return { user, secret }
}
