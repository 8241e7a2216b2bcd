import { timingSafeEqual } from 'node:crypto'
import { HOTP, Secret } from 'otpauth'
import { TOTP_DIGITS } from '../../limits.ts'
import { type Timestamp, unixTime } from '../../time.ts'

/** The time step of TOTP in seconds (RFC 6238 §5.2), and the steps that a clock may be off (contract §12). */
const TOTP_STEP = 30
const TOTP_DRIFT = 1

/** Computes the code of a secret in a time step (RFC 6238 with SHA-1). */
export function codeAt(secret: Uint8Array, step: number): string {
  return HOTP.generate({ secret: hmacKey(secret), algorithm: 'SHA1', digits: TOTP_DIGITS, counter: step })
}

/** Returns the time step that contains a point in time. */
export function stepAt(time: Timestamp): number {
  return Math.floor(unixTime(time) / TOTP_STEP)
}

/** Returns the time step of a code, if it is later than `lastStep` and near `now`: clocks differ (RFC 6238 §5.2). */
export function matchingStep(
  secret: Uint8Array,
  code: string,
  now: Timestamp,
  lastStep: number | null,
): number | undefined {
  const current = stepAt(now)
  const steps = Array.from({ length: 2 * TOTP_DRIFT + 1 }, (_, i) => current - TOTP_DRIFT + i)
  return steps.find((step) => step > (lastStep ?? -1) && isEqual(codeAt(secret, step), code))
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Encodes a secret in base32 (RFC 4648 §6), without padding. */
export function base32(secret: Uint8Array): string {
  return hmacKey(secret).base32
}

function hmacKey(secret: Uint8Array): Secret {
  return new Secret({ buffer: Uint8Array.from(secret).buffer })
}
