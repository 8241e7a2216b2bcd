import type { JWTPayload } from 'jose'
import type { IDToken } from 'openid-client'

// What the tokens of the issuer say, once their signatures and times are right.

/** The event of a logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** Names of people and of sessions: ASCII of at most 255 characters (OpenID Connect Core 1.0 §2). */
const NAME = /^[\x20-\x7e]{1,255}$/

/** Values of `acr` that mean several factors (OASIS SAML and PAPE profiles, REFEDS). */
const MULTI_FACTOR = [
  'http://schemas.openid.net/pape/policies/2007/06/multi-factor',
  'http://schemas.microsoft.com/claims/multipleauthn',
  'https://refeds.org/profile/mfa',
]

/** Who has signed in at the issuer, as its signed ID token says. */
export interface Subject {
  issuer: string
  sub: string
  /** The session at the issuer, if it names it. */
  sid: string | null
  /** Whether several factors were used. */
  isMultiFactor: boolean
  /** What the issuer says of the person: the ID token, and what only its UserInfo endpoint has. */
  claims: Readonly<Record<string, unknown>>
}

/** Whose sessions the issuer ends: those of a person, or the one of this `sid`. */
export interface LogoutOrder {
  issuer: string
  sub: string | undefined
  sid: string | undefined
  /** The sessions that began until then, in seconds since the epoch. */
  issued: number
}

/**
 * Reads who has signed in.
 * @param signed the claims of the ID token
 * @param more those of the UserInfo endpoint, if it was asked
 * @throws Error if the person has no valid name
 */
export function subjectIn(issuer: string, signed: IDToken, more: Subject['claims']): Subject {
  const { sub, sid, acr, amr } = signed
  if (!isName(sub)) throw new Error('the name of the person is none')
  // Whoever says the address also says whether it is verified.
  const { email, email_verified }: Subject['claims'] = signed['email'] === undefined ? more : signed
  return {
    issuer,
    sub,
    sid: isName(sid) ? sid : null,
    isMultiFactor:
      (Array.isArray(amr) && amr.includes('mfa')) || (typeof acr === 'string' && MULTI_FACTOR.includes(acr)),
    claims: { ...more, ...signed, email, email_verified },
  }
}

/** A token of the issuer that is for something else. */
export class NoLogoutToken extends Error {}

/** Reads a logout token whose signature and times are right (Back-Channel Logout 1.0 §2.6). @throws Error if it is none */
export function orderIn(
  { sub, sid, iat, events, nonce }: JWTPayload,
  type: string | undefined,
): Omit<LogoutOrder, 'issuer'> {
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, LOGOUT_EVENT)
  // An ID token has a nonce. RFC 8725 §3.11: issuers of before may have no type.
  const isOther = nonce !== undefined || !['logout+jwt', 'JWT', undefined].includes(type)
  const isNamed = [sub, sid].every((name) => name === undefined || isName(name))
  if (!isLogout || isOther || !isNamed || (sub ?? sid) === undefined) throw new NoLogoutToken('it is no logout token')
  return { sub, sid: sid as string | undefined, issued: iat! }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}
