import { createHash, randomBytes } from 'node:crypto'
import { Denied } from '../../errors.ts'
import type { Binding } from '../../issuer/issuer.ts'
import { SIGN_IN_TIME } from '../../limits.ts'
import type { System } from '../../system.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'

// A browser that signs in at the issuer keeps all that the service has to know of it in a cookie, encrypted: so any
// process can go on, and strangers fill no table.

/** Octets of the secret from which `state`, `nonce` and verifier are derived, and of the time before it. */
const SECRET_LENGTH = 32
const TIME_LENGTH = 8

/** A browser's sign-in. */
export interface Attempt {
  binding: Binding
  /** When it began, in milliseconds since the epoch. */
  begun: number
}

/** Begins a sign-in. @returns also the cookie, which nobody else can read or change */
export function beginAttempt(system: System): Attempt & { cookie: string } {
  const secret = randomBytes(SECRET_LENGTH)
  const begun = Date.parse(system.now())
  const time = Buffer.alloc(TIME_LENGTH)
  time.writeBigUInt64BE(BigInt(begun))
  const cookie = encrypt(system, Buffer.concat([time, secret]), ownerOf(system)).toString('base64url')
  return { cookie, begun, binding: bindingOf(secret) }
}

/** Reads the cookie of a sign-in. @throws Denied without one, or if it is too old, or not of this service and issuer */
export function readAttempt(system: System, cookie: string | undefined): Attempt {
  if (cookie === undefined) throw new Denied(NO_COOKIE)
  const contents = decrypted(system, cookie)
  if (contents?.length !== TIME_LENGTH + SECRET_LENGTH) throw new Denied(NO_COOKIE)
  const begun = Number(contents.readBigUInt64BE())
  const age = Date.parse(system.now()) - begun
  if (age > SIGN_IN_TIME * 1000) throw new Denied('This sign-in took more than ten minutes. Sign in again.')
  return { begun, binding: bindingOf(contents.subarray(TIME_LENGTH)) }
}

const NO_COOKIE =
  'Your browser sent no cookie of this sign-in. Allow cookies for this site, and sign in again: begin and end in the ' +
  'same browser, within ten minutes.'

function decrypted(system: System, cookie: string): Buffer | undefined {
  try {
    return decrypt(system, { ...ownerOf(system), secret: Buffer.from(cookie, 'base64url') })
  } catch {
    return undefined
  }
}

/** A cookie of an earlier issuer is none. */
function ownerOf({ config }: System) {
  return { table: 'sign_ins', owner: config.oidcIssuer! } as const
}

function bindingOf(secret: Buffer): Binding {
  const derived = (use: string) => createHash('sha256').update(use).update(secret).digest('base64url')
  return { state: derived('state'), nonce: derived('nonce'), verifier: derived('verifier') }
}
