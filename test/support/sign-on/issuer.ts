import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { decodeJwt } from 'jose'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import Provider, { type Configuration } from 'oidc-provider'
import { listen } from '../servers/ports.ts'

/** What the issuer says of a person. */
export interface Claims {
  email?: string
  email_verified?: boolean
  [claim: string]: unknown
}

/** An issuer of OpenID Connect (oidc-provider) on this machine, which signs in whoever the test says. */
export interface TestIssuer {
  url: string
  provider: Provider
  /** The people whom it knows, by `sub`. */
  people: Map<string, Claims>
  /** Who sits at the browser. */
  person: string
  /** Changes the ID tokens that it issues; undefined: they stay. */
  lie: ((claims: JWTPayload) => Promise<string>) | undefined
  /** Further keys that it publishes. */
  moreKeys: object[]
  /** Answers instead of it. */
  instead: RequestListener | undefined
  /** Signs a token with its key. @param header instead of the usual one */
  sign: (claims: JWTPayload, header?: Record<string, string>) => Promise<string>
  /** The requests that it has got. */
  asked: string[]
  close: () => Promise<void>
}

export const CLIENT = { id: 'zoneplane', secret: 'a secret of the client' }

/** Starts an issuer for a service. @param callback of the service */
export async function startIssuer(publicUrl: string, port = 0, more: Configuration = {}): Promise<TestIssuer> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' }
  const server = createServer()
  const url = `http://127.0.0.1:${await listen(server, port)}`
  const issuer: Omit<TestIssuer, 'provider'> = {
    url,
    people: new Map(),
    person: '',
    lie: undefined,
    moreKeys: [],
    instead: undefined,
    asked: [],
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first', ...header }).sign(privateKey),
    async close() {
      server.closeAllConnections()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${publicUrl}/api/v1/auth/oidc/callback/`],
        backchannel_logout_uri: `${publicUrl}/api/v1/auth/oidc/logout/`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['a key of cookies'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...issuer.people.get(id) }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! })
      grant.addOIDCScope('openid email groups')
      await grant.save()
      return grant
    },
    // It sends logouts to no addresses such as the service's, unless it is told to.
    fetch: (url, options = {}) => {
      const own = { ...options }
      delete own.dispatcher
      return fetch(url, own)
    },
    ...more,
  })
  // Over plain HTTP, its warnings are about this.
  provider.use(async (ctx, next) => {
    if (ctx.path.startsWith('/interaction/')) {
      const result =
        issuer.person === '' ? { error: 'access_denied' } : { login: { accountId: issuer.person, remember: false } }
      ctx.respond = false
      await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false })
      return
    }
    await next()
    const body = ctx.body as { id_token?: string; keys?: object[] } | undefined
    if (ctx.path === '/jwks') body?.keys?.push(...issuer.moreKeys)
    if (ctx.path === '/token' && typeof body?.id_token === 'string' && issuer.lie !== undefined) {
      body.id_token = await issuer.lie(decodeJwt(body.id_token))
    }
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    issuer.asked.push(`${request.method} ${request.url!.split('?')[0]}`)
    if (issuer.instead !== undefined) issuer.instead(request, response)
    else void answer(request, response)
  })
  return Object.assign(issuer, { provider })
}
