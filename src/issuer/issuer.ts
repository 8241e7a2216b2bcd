import type * as jose from 'jose'
import type * as openid from 'openid-client'
import { Busy, Denied, Invalid, reasonOf } from '../errors.ts'
import { CLOCK_SKEW } from '../limits.ts'
import { fetchBounded } from './bounded-fetch.ts'
import { type LogoutOrder, NoLogoutToken, orderIn, type Subject, subjectIn } from './claims.ts'

/** Seconds that the issuer has to answer; milliseconds for which its metadata is good, and before it is asked again. */
const ANSWER_TIME = 5
const METADATA_AGE = 600_000
const RETRY_PAUSE = 5_000

/** Signatures with keys of the issuer; never `none`, nor those with the client's secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA']

/** The values that bind a sign-in to a browser. */
export interface Binding {
  state: string
  nonce: string
  /** The code verifier of PKCE. */
  verifier: string
}

export interface IssuerSettings {
  url: string
  /** The name that people know. */
  name: string
  clientId: string
  clientSecret: string
  /** Where it sends browsers back to. */
  callback: string
  /** Claims that the answers need besides the address, as the names of their scopes; asked for if the issuer has them. */
  scopes: readonly string[]
  /** Called with the reason of each failure, which may have texts of the issuer, but no secret. */
  onFailure: (reason: string) => void
}

type Configuration = openid.Configuration

/** The issuer of single sign-on (OpenID Connect Core 1.0): discovery, the code flow with PKCE, and logout tokens. */
export class Issuer {
  readonly #settings: IssuerSettings
  #found: { configuration: Promise<Configuration>; at: number } | undefined
  #failed: { error: Error; at: number } | undefined
  #keys: ReturnType<typeof jose.createRemoteJWKSet> | undefined

  constructor(settings: IssuerSettings) {
    this.#settings = settings
  }

  /** Reports whether the issuer answers; it is asked at most every few seconds. */
  async isReachable(): Promise<boolean> {
    return this.#discover().then(
      () => true,
      () => false,
    )
  }

  /** Returns where a browser signs in. @throws Busy if the issuer does not answer */
  async authorizationUrl({ state, nonce, verifier }: Binding): Promise<string> {
    const configuration = await this.#discover()
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
    const supported = configuration.serverMetadata().scopes_supported ?? []
    const scopes = this.#settings.scopes.filter((scope) => supported.includes(scope))
    return buildAuthorizationUrl(configuration, {
      redirect_uri: this.#settings.callback,
      scope: ['openid', 'email', ...scopes].join(' '),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).href
  }

  /**
   * Returns who has signed in, by the query with which the issuer sent the browser back. Checks `state`, `iss` (RFC 9207),
   * and the ID token: signature, `iss`, `aud`, `exp`, `nonce`.
   * @param isComplete whether the claims suffice; if not, the UserInfo endpoint is asked, too
   * @throws Busy if the issuer does not answer; Denied if its answer is an error, or not to be trusted
   */
  async redeem(
    query: string,
    { state, nonce, verifier }: Binding,
    isComplete: (claims: Subject['claims']) => boolean,
  ): Promise<Subject> {
    const configuration = await this.#discover()
    const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client')
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      const url = new URL(`${this.#settings.callback}?${query}`)
      const tokens = await authorizationCodeGrant(configuration, url, checks)
      const signed = tokens.claims()!
      const { issuer, userinfo_endpoint: endpoint } = configuration.serverMetadata()
      const more =
        endpoint === undefined || isComplete(signed)
          ? {}
          : await fetchUserInfo(configuration, tokens.access_token, signed.sub)
      return subjectIn(issuer, signed, more)
    } catch (error) {
      throw await this.#translated(error)
    }
  }

  /** Reads a logout token. @throws Invalid if it is not valid; Busy if the issuer's keys cannot be had */
  async readLogout(token: string): Promise<LogoutOrder> {
    const { issuer, jwks_uri: keys } = (await this.#discover()).serverMetadata()
    const { createRemoteJWKSet, errors, jwtVerify } = await import('jose')
    this.#keys ??= createRemoteJWKSet(new URL(keys!), { timeoutDuration: ANSWER_TIME * 1000 })
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys, {
        issuer,
        audience: this.#settings.clientId,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW,
        requiredClaims: ['iat', 'exp', 'jti', 'events'],
      })
      return { issuer, ...orderIn(payload, protectedHeader.typ) }
    } catch (error) {
      const isOfToken = [
        ...[errors.JWTClaimValidationFailed, errors.JWTExpired, errors.JWTInvalid, errors.JWSInvalid, NoLogoutToken],
        ...[
          errors.JWSSignatureVerificationFailed,
          errors.JWKSNoMatchingKey,
          errors.JOSEAlgNotAllowed,
          errors.JOSENotSupported,
        ],
      ].some((kind) => error instanceof kind)
      // The keys cannot be had.
      if (!isOfToken) throw this.#away(error)
      this.#settings.onFailure(`logout token: ${reasonOf(error)}`)
      throw Invalid.field('logout_token', 'The logout token is not valid.')
    }
  }

  /** Returns the issuer's metadata, as it had them a short while ago. Of several callers, one asks. @throws Busy */
  async #discover(): Promise<Configuration> {
    const now = Date.now()
    if (this.#failed !== undefined && now - this.#failed.at < RETRY_PAUSE) throw this.#failed.error
    if (this.#found === undefined || now - this.#found.at > METADATA_AGE) {
      this.#found = { configuration: this.#request(), at: now }
      this.#keys = undefined
    }
    try {
      const configuration = await this.#found.configuration
      this.#failed = undefined
      return configuration
    } catch (error) {
      if (this.#failed === undefined || now - this.#failed.at >= RETRY_PAUSE) {
        this.#failed = { error: this.#away(error), at: Date.now() }
      }
      this.#found = undefined
      throw this.#failed.error
    }
  }

  async #request(): Promise<Configuration> {
    const { url, clientId, clientSecret } = this.#settings
    const client = await import('openid-client')
    const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)]
    const authenticate: openid.ClientAuth = (server, ...rest) => {
      // The default of OpenID Connect Discovery 1.0 §3.
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      ;(methods.includes('client_secret_basic') ? basic : post)(server, ...rest)
    }
    const server = new URL(url)
    const isLocal = server.protocol === 'http:'
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- for an issuer on this machine; the settings allow no other
    const more = isLocal ? [client.allowInsecureRequests] : []
    return client.discovery(server, clientId, { [client.clockTolerance]: CLOCK_SKEW }, authenticate, {
      timeout: ANSWER_TIME,
      [client.customFetch]: fetchBounded,
      // Without this, the signatures of ID tokens that come over TLS are not looked at.
      execute: [client.enableNonRepudiationChecks, ...more],
    })
  }

  /** Returns the error for the person who signs in. */
  async #translated(error: unknown): Promise<Error> {
    const { AuthorizationResponseError, ClientError, ResponseBodyError } = await import('openid-client')
    const { name } = this.#settings
    if (error instanceof AuthorizationResponseError) {
      if (error.error === 'access_denied') return new Denied(`${name} did not let you in, or you cancelled.`)
      return new Denied(`${name} could not sign you in (${word(error.error)}). Sign in again, or ask whoever runs it.`)
    }
    if (error instanceof ResponseBodyError) {
      if (error.error === 'invalid_grant') {
        return new Denied('This sign-in was used before, or took too long. Sign in again.')
      }
      this.#settings.onFailure(`the issuer refuses the client: ${word(error.error)}`)
      return new Denied(
        `${name} does not accept this service (${word(error.error)}). Tell the operator of this service.`,
      )
    }
    const status = error instanceof ClientError && error.cause instanceof Response ? error.cause.status : 0
    const isAway = error instanceof ClientError ? error.code === 'OAUTH_TIMEOUT' || status >= 500 : isFetchError(error)
    if (isAway) return this.#away(error)
    this.#settings.onFailure(`an answer of the issuer is not valid: ${reasonsOf(error)}`)
    return new Denied(
      `The answer of ${name} is not valid. Sign in again; if that fails, tell the operator of this service.`,
    )
  }

  #away(error: unknown): Busy {
    const { name, onFailure } = this.#settings
    onFailure(`the issuer does not answer: ${reasonsOf(error)}`)
    return new Busy(`${name} does not answer.`, 'the issuer of single sign-on does not answer')
  }
}

/** The failure of a request without an answer. */
function isFetchError(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed'
}

/** The reasons of an error and of its causes, which are errors, too. */
function reasonsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${reasonsOf(error.cause)}` : ''
  return reasonOf(error) + cause
}

/** An error code of the issuer, of which pages and logs show only what such codes have (RFC 6749 §4.1.2.1). */
function word(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : 'unknown error'
}
