import { isUtf8 } from 'node:buffer'
import { Denied, Unauthenticated } from '../../errors.ts'
import type { Permission } from '../../service/tokens/actor.ts'
import { authenticate as authenticateSecret, refuseMfaPending } from '../../service/tokens/authentication.ts'
import type { Context, Middleware } from '../context.ts'
import { clientAddress } from '../client.ts'

/** Lets through who presents a valid token (contract §3.1), and has taken the MFA step if there is one (§3.2). */
export const authenticate: Middleware = async function authenticate(ctx, next) {
  await identify(ctx)
  refuseMfaPending(ctx.state.actor)
  await next()
}

/** As `authenticate`, but the MFA step may be missing. */
export const authenticateBeforeMfa: Middleware = async function authenticateBeforeMfa(ctx, next) {
  await identify(ctx)
  await next()
}

/** As `authenticateBeforeMfa`, but who presents no token may pass, too. */
export const authenticateIfPresented: Middleware = async function authenticateIfPresented(ctx, next) {
  if (presentedSecret(ctx) !== undefined) await identify(ctx)
  await next()
}

/** Lets through tokens with a permission: whatever the method, or with the one that each of these methods needs. */
export function requires(needed: Permission | Partial<Record<string, Permission>>): Middleware {
  return async function requires(ctx, next) {
    const permission = typeof needed === 'string' ? needed : needed[ctx.method]
    if (permission !== undefined && !ctx.state.actor[permission]) throw new Denied()
    await next()
  }
}

/** Lets through tokens without policies. */
export const refuseRestricted: Middleware = async function refuseRestricted(ctx, next) {
  if (ctx.state.actor.restricted) throw new Denied()
  await next()
}

async function identify(ctx: Context): Promise<void> {
  const { secret, address } = credentials(ctx)
  ctx.state.actor = await authenticateSecret(ctx.state.system, secret, address)
}

/** What a request presents to be known by. @throws Unauthenticated if that is nothing of ours */
export function credentials(ctx: Context): { secret: string; address: string } {
  const secret = presentedSecret(ctx)
  if (secret === undefined) throw new Unauthenticated('Authentication credentials were not provided.')
  return { secret, address: clientAddress(ctx, ctx.state.system.config.trustedProxies) }
}

/** The secret in the `Authorization` header; undefined if there is none of our scheme. */
export function presentedSecret(ctx: Context): string | undefined {
  const { scheme, credentials } = authorization(ctx)
  if (scheme !== 'token') return undefined
  const [secret] = credentials
  if (secret === undefined) throw new Unauthenticated('Invalid token header. No credentials provided.')
  if (credentials.length > 1) {
    throw new Unauthenticated('Invalid token header. Token string should not contain spaces.')
  }
  // Node hands headers over octet by octet; a secret is ASCII, or UTF-8 that makes sense.
  const octets = Buffer.from(secret, 'latin1')
  if (!isUtf8(octets)) {
    throw new Unauthenticated('Invalid token header. Token string should not contain invalid characters.')
  }
  return octets.toString()
}

/** The parts of the `Authorization` header, its scheme in lower case; empty if there is none. */
export function authorization(ctx: Context): { scheme: string; credentials: string[] } {
  const [scheme = '', ...credentials] = ctx
    .get('Authorization')
    .split(/[ \t]+/)
    .filter((part) => part !== '')
  return { scheme: scheme.toLowerCase(), credentials }
}
