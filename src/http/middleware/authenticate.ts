import { isUtf8 } from 'node:buffer'
import { Unauthenticated } from '../../errors.ts'
import type { Actor } from '../../service/actor.ts'
import * as domains from '../../service/domains/domains.ts'
import { actorOf, authenticate as authenticateSecret } from '../../service/tokens/authentication.ts'
import { authorise, LACKS_FACTOR, OWN_LOGIN, type Use } from '../../service/tokens/rights.ts'
import { clientAddress } from '../kit/caller.ts'
import { type Context, guard, type Middleware } from '../kit/context.ts'
import type { Effect, Errors } from '../kit/effect.ts'

const NOT_PROVIDED = 'Authentication credentials were not provided.'
const AUTHENTICATION: Errors = { 401: [], 503: [] }
const NOT_PERMITTED = 'You do not have permission to perform this action.'

/** Requires a valid token (contract §3.1); `requires` adds the permissions. */
export const authenticate = guard((ctx) => identify(ctx), { security: 'token', errors: AUTHENTICATION })

/** Requires no token, but a presented one must be valid. */
export const authenticateIfPresented = guard(
  async (ctx) => {
    if (presentedSecret(ctx) !== undefined) await identify(ctx)
  },
  { security: 'optional', errors: AUTHENTICATION },
)

/** Requires a token for RRsets, and that the domain in the path is visible to it (contract §1.2, step 5). */
export const authenticateForDomain = guard((ctx) => identifyForDomain(ctx, requiredSecret(ctx), ctx.params['name']!), {
  security: 'token',
  errors: { ...AUTHENTICATION, 403: [NOT_PERMITTED], 404: ['Not found.'] },
})

/** Requires a token that is allowed this use of the API. @param others for these methods instead; HEAD is GET */
export function requires(use: Use, others: Partial<Record<string, Use>> = {}): Middleware {
  return guard(
    ({ method, state: { actor } }) => {
      authorise(actor, others[method === 'HEAD' ? 'GET' : method] ?? use)
    },
    { errors: { 403: textsOf(use, ...Object.values(others).filter((other) => other !== undefined)) } },
  )
}

/** Requires the same as `requires`, for `authenticateIfPresented`. */
export function requiresIfPresented(use: Use): Middleware {
  return guard(
    (ctx) => {
      const actor = ctx.state.actor as Actor | undefined
      if (actor !== undefined) authorise(actor, use)
    },
    { errors: { 403: textsOf(use) } },
  )
}

/** Returns the texts with which `authorise` rejects. */
function textsOf(...uses: Use[]): string[] {
  const isAbout = (...texts: Use[]) => uses.some((use) => texts.includes(use))
  return [
    NOT_PERMITTED,
    ...(isAbout('factors', 'factorReads', 'codes', 'members', 'memberships') ? ['Login token required.'] : []),
    ...(isAbout('factors', 'factorReads', 'codes') ? ['Multi-factor authentication required.'] : []),
    ...(isAbout('factors', 'factorReads', 'codes', 'ownAccount', 'memberships') ? [OWN_LOGIN] : []),
    ...(isAbout('ownToken', 'logout') ? [] : [LACKS_FACTOR]),
  ]
}

async function identify(ctx: Context, secret = requiredSecret(ctx)): Promise<void> {
  admit(ctx, await authenticateSecret(ctx.state.system, secret, clientAddress(ctx)))
}

function admit({ state }: Context, actor: Actor): void {
  state.actor = actor
  state.system = { ...state.system, person: actor.ownerId }
}

async function identifyForDomain(ctx: Context, secret: string, name: string): Promise<void> {
  const address = clientAddress(ctx)
  const [token, domain] = await domains.findForToken(ctx.state.system, name, secret, address)
  admit(ctx, actorOf(token, address))
  const { system, actor } = ctx.state
  authorise(actor, 'rrsets')
  ctx.state.domain = await domains.visible({ system, actor }, domain)
}

const BY_KEY: Effect = { security: 'key', errors: AUTHENTICATION }

/** Requires a valid token in `X-API-Key` (contract §20.2). */
export const authenticateByKey = guard((ctx) => identify(ctx, requiredKey(ctx)), BY_KEY)

/** Requires a token for RRsets in `X-API-Key`, and that the domain is visible to it. @param named returns its name */
export function authenticateByKeyFor(named: (ctx: Context) => string): Middleware {
  return guard((ctx) => identifyForDomain(ctx, requiredKey(ctx), named(ctx)), {
    ...BY_KEY,
    errors: { ...AUTHENTICATION, 403: [NOT_PERMITTED], 404: [] },
  })
}

function requiredKey(ctx: Context): string {
  const secret = ctx.get('X-API-Key')
  if (secret === '') throw new Unauthenticated(NOT_PROVIDED)
  return secret
}

function requiredSecret(ctx: Context): string {
  const secret = presentedSecret(ctx)
  if (secret === undefined) throw new Unauthenticated(NOT_PROVIDED)
  return secret
}

/** Returns the secret in the `Authorization` header; undefined if the header is absent or has another scheme. */
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

/** Returns the `Authorization` header in parts; the scheme is in lower case, and empty if the header is absent. */
export function authorization(ctx: Context): { scheme: string; credentials: string[] } {
  const parts = ctx.get('Authorization').split(/[ \t]+/)
  const [scheme = '', ...credentials] = parts.filter((part) => part !== '')
  return { scheme: scheme.toLowerCase(), credentials }
}
