import { isUtf8 } from 'node:buffer'
import { Denied, NotFound, Unauthenticated } from '../../errors.ts'
import { authenticateAndLookUp } from '../../service/domains/domains.ts'
import type { Permission } from '../../service/tokens/actor.ts'
import { authenticate as authenticateSecret, refuseMfaPending } from '../../service/tokens/authentication.ts'
import { clientAddress } from '../client.ts'
import { guard, type Context, type Middleware } from '../context.ts'

/** Requires a valid token (contract §3.1) with no MFA step pending (§3.2). */
export const authenticate = guard(async (ctx) => {
  await identify(ctx)
  refuseMfaPending(ctx.state.actor)
})

/** Requires a valid token; its MFA step may be pending. */
export const authenticateBeforeMfa = guard(identify)

/** Requires no token, but one that is presented must be valid; its MFA step may be pending. */
export const authenticateIfPresented = guard(async (ctx) => {
  if (presentedSecret(ctx) !== undefined) await identify(ctx)
})

/** Like `authenticate`; requires also that the domain in the path is visible to the token (contract §1.2, step 5). */
export const authenticateForDomain = guard(async (ctx) => {
  const { system } = ctx.state
  const name = ctx.params['name']!
  const { actor, domain } = await authenticateAndLookUp(system, requiredSecret(ctx), clientAddress(ctx), name)
  ctx.state.actor = actor
  refuseMfaPending(actor)
  if (domain === undefined) throw new NotFound()
  ctx.state.domain = domain
})

/** Requires a permission: one for all methods, or one for each of these methods. */
export function requires(needed: Permission | Partial<Record<string, Permission>>): Middleware {
  return guard((ctx) => {
    const permission = typeof needed === 'string' ? needed : needed[ctx.method]
    if (permission !== undefined && !ctx.state.actor[permission]) throw new Denied()
  })
}

/** Requires a token without policies. */
export const refuseRestricted = guard((ctx) => {
  if (ctx.state.actor.restricted) throw new Denied()
})

async function identify(ctx: Context): Promise<void> {
  ctx.state.actor = await authenticateSecret(ctx.state.system, requiredSecret(ctx), clientAddress(ctx))
}

function requiredSecret(ctx: Context): string {
  const secret = presentedSecret(ctx)
  if (secret === undefined) throw new Unauthenticated('Authentication credentials were not provided.')
  return secret
}

/** The secret in the `Authorization` header; undefined if the header is absent or has another scheme. */
export function presentedSecret(ctx: Context): string | undefined {
  const { scheme, credentials } = authorization(ctx)
  if (scheme !== 'token') return undefined
  const [secret] = credentials
  if (secret === undefined) throw new Unauthenticated('Invalid token header. No credentials provided.')
  if (credentials.length > 1) {
    throw new Unauthenticated('Invalid token header. Token string should not contain spaces.')
  }
  // Node decodes headers as Latin-1; a secret must be valid UTF-8.
  const octets = Buffer.from(secret, 'latin1')
  if (!isUtf8(octets)) {
    throw new Unauthenticated('Invalid token header. Token string should not contain invalid characters.')
  }
  return octets.toString()
}

/** The `Authorization` header in parts; the scheme is in lower case, and empty if the header is absent. */
export function authorization(ctx: Context): { scheme: string; credentials: string[] } {
  const parts = ctx.get('Authorization').split(/[ \t]+/)
  const [scheme = '', ...credentials] = parts.filter((part) => part !== '')
  return { scheme: scheme.toLowerCase(), credentials }
}
