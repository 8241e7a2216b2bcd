import { characters } from '../../dns/presentation.ts'
import { TOTP_DIGITS, TOTP_NAME_LENGTH } from '../../limits.ts'
import type { Factor, NewFactor } from '../../service/accounts/totp.ts'
import { base32 } from '../../service/accounts/totp-codes.ts'
import { readForm, ruledText, text } from './fields.ts'

const name = text({ trim: true }).test(
  'length',
  `Ensure this field has no more than ${TOTP_NAME_LENGTH} characters.`,
  (value = '') => characters(value) <= TOTP_NAME_LENGTH,
)

/** A code of a factor, as a member of a request. */
export const code = ruledText({ trim: true }, codeProblems)

/** Reads a factor (contract §12). */
export function readFactor(body: unknown): { name?: string } {
  return readForm(body, {}, { name })
}

/** Reads a code of a factor (contract §12). */
export function readCode(body: unknown): { code: string } {
  return readForm(body, { code })
}

function codeProblems(value: string): string[] {
  const length = characters(value)
  const problems: string[] = []
  if (length > TOTP_DIGITS) problems.push(`Ensure this field has no more than ${TOTP_DIGITS} characters.`)
  if (length < TOTP_DIGITS) problems.push(`Ensure this field has at least ${TOTP_DIGITS} characters.`)
  if (!/^[0-9]+$/.test(value)) problems.push('This value does not match the required pattern.')
  return problems
}

export function presentFactor({ id, created, lastUsed, name }: Factor) {
  return { id, created, last_used: lastUsed, name }
}

/** A new factor with its secret, also as a URI for authenticator apps. @param host the issuer in the URI */
export function presentNewFactor(factor: NewFactor, host: string) {
  const secret = base32(factor.secret)
  const [issuer, account] = [host, factor.email].map((part) => encodeURIComponent(part).replaceAll('%40', '@'))
  const uri = `otpauth://totp/${issuer}:${account}?secret=${secret}&issuer=${issuer}`
  return { ...presentFactor(factor), secret, uri }
}
