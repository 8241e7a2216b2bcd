import type { VerifiedAuthenticationResponse, VerifiedRegistrationResponse } from '@simplewebauthn/server'
import { randomBytes } from 'node:crypto'
import { Invalid } from '../../errors.ts'
import { CHALLENGE_VALIDITY } from '../../limits.ts'
import type { Purpose } from '../../store/accounts/passkey-challenges.ts'
import * as challenges from '../../store/accounts/passkey-challenges.ts'
import type { Credential } from '../../store/accounts/passkeys.ts'
import type { Db } from '../../store/database.ts'
import type { System } from '../../system.ts'

// What browsers and authenticators are asked, and the examination of their answers (contract §12.1; Web Authentication
// Level 3, §§7.1 and 7.2). Octets are in base64url, as in their JSON.

/** Where passkeys are valid. */
export interface Site {
  /** The RP ID: a host name. */
  id: string
  origin: string
}

/** The answer of a new credential. */
export interface Attestation {
  id: string
  clientDataJSON: string
  attestationObject: string
  transports: string[]
}

/** The signature of a credential. */
export interface Assertion {
  id: string
  clientDataJSON: string
  authenticatorData: string
  signature: string
  userHandle: string | null
}

/** The algorithms of keys: EdDSA, ES256, RS256 (RFC 9053 §2, RFC 8812 §2). */
export const ALGORITHMS = [-8, -7, -257]

/** Refused answers of the package, by the beginning of their message, and what to do. */
const REFUSALS: [RegExp, (site: Site) => string][] = [
  [
    /^Unexpected (registration|authentication) response origin|^Unexpected RP ID hash/,
    ({ origin }) => `This passkey is for another site. Please use ${origin}.`,
  ],
  [
    /^User verification (was )?required/,
    () => 'The passkey did not verify you. Please set up a PIN or a screen lock for it, and try again.',
  ],
]

export function refusedPasskey(text: string): Invalid {
  return Invalid.field('passkey', text)
}

/** Returns the error for a passkey that does not exist, or whose signature is wrong: strangers cannot tell. */
export function unknownPasskey(): Invalid {
  return refusedPasskey('This passkey is unknown here, or was deleted. Please sign in another way.')
}

/** Stores and returns a challenge. */
export async function challenge(system: System, db: Db, purpose: Purpose): Promise<string> {
  const now = system.now()
  const octets = randomBytes(32)
  await challenges.removeExpired(db, now)
  await challenges.insert(db, { ...purpose, challenge: octets, now, validity: CHALLENGE_VALIDITY })
  return octets.toString('base64url')
}

/** Uses up the challenge that an answer is for. @throws Invalid unless it was made for this purpose */
async function takeChallenge(
  system: System,
  trx: Db,
  clientDataJSON: string,
  isFor: (purpose: Purpose) => boolean,
): Promise<string> {
  const text = challengeIn(clientDataJSON)
  const taken =
    text === undefined ? undefined : await challenges.take(trx, Buffer.from(text, 'base64url'), system.now())
  if (taken === undefined || !isFor(taken)) {
    throw refusedPasskey('This challenge is unknown, used or expired. Please try again.')
  }
  return text!
}

function challengeIn(clientDataJSON: string): string | undefined {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown }
    return typeof challenge === 'string' ? challenge : undefined
  } catch {
    return undefined
  }
}

/**
 * Uses up the challenge of a new credential, and examines the answer.
 * @throws Invalid
 */
export async function examineCreation(
  system: System,
  trx: Db,
  { id, transports, ...response }: Attestation,
  site: Site,
  isFor: (purpose: Purpose) => boolean,
): Promise<Credential> {
  const expectedChallenge = await takeChallenge(system, trx, response.clientDataJSON, (purpose) => {
    return purpose.use === 'creation' && isFor(purpose)
  })
  const { registrationInfo } = await examined<VerifiedRegistrationResponse>(site, async (webauthn) => {
    await refuseCertificates(response.attestationObject)
    const result = await webauthn.verifyRegistrationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
      expectedChallenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    // What the package does not examine: the id of the authenticator is that of the browser, and its key is one.
    const { credential } = result.registrationInfo!
    if (credential.id !== id) throw new Error('The credential has two ids.')
    await refuseBadKey(credential.publicKey)
    return result
  })
  const { credential, credentialBackedUp } = registrationInfo!
  return {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    signCount: credential.counter,
    backedUp: credentialBackedUp,
    transports,
  }
}

/** The shortest signature of ECDSA, of the numbers 1 and 1 (RFC 3279 §2.2.3), which no key has made. */
const SIGNATURE = Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1)

/** A key that examines no signature would keep its owner out, who needs it from then on. @throws Error */
async function refuseBadKey(credentialPublicKey: Uint8Array<ArrayBuffer>): Promise<void> {
  const { verifySignature } = await import('@simplewebauthn/server/helpers')
  await verifySignature({ credentialPublicKey, signature: SIGNATURE, data: new Uint8Array() })
}

/** Nobody asked for a certificate of the authenticator, and the package would perhaps follow the addresses in it. */
async function refuseCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const decoded = decodeAttestationObject(Uint8Array.from(Buffer.from(attestationObject, 'base64url')))
  const format = decoded.get('fmt')
  const isPlain = format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined)
  if (!isPlain) throw new Error('The attestation has certificates.')
}

/**
 * Uses up the challenge of a signature, and examines the signature with a credential. The caller examines its counter.
 * @throws Invalid
 */
export async function examineSignature(
  system: System,
  trx: Db,
  { id, clientDataJSON, authenticatorData, signature }: Assertion,
  { publicKey }: Credential,
  site: Site,
  isFor: (purpose: Purpose) => boolean,
): Promise<Pick<Credential, 'signCount' | 'backedUp'>> {
  const expectedChallenge = await takeChallenge(system, trx, clientDataJSON, (purpose) => {
    return purpose.use === 'signature' && isFor(purpose)
  })
  const response = { clientDataJSON, authenticatorData, signature }
  const { authenticationInfo } = await examined<VerifiedAuthenticationResponse>(site, (webauthn) =>
    webauthn.verifyAuthenticationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
      expectedChallenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      // The package compares counters before it examines the signature, so anybody could make it tell of a copy.
      credential: { id, publicKey: Uint8Array.from(publicKey), counter: 0 },
    }),
  )
  return { signCount: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp }
}

/** Returns the result of an examination. @throws Invalid, also if the answer cannot be read */
async function examined<T extends { verified: boolean }>(
  site: Site,
  examine: (webauthn: typeof import('@simplewebauthn/server')) => Promise<T>,
): Promise<T> {
  // Loaded at the first use, because it takes as long as the rest of the start.
  const webauthn = await import('@simplewebauthn/server')
  const result = await examine(webauthn).catch((error: unknown) => {
    const text = REFUSALS.find(([pattern]) => pattern.test((error as Error).message))?.[1](site)
    throw text === undefined ? unknownPasskey() : refusedPasskey(text)
  })
  if (!result.verified) throw unknownPasskey()
  return result
}
