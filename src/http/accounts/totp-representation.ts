import { characters } from '../../dns/presentation.ts'
import { FACTOR_NAME_LENGTH, TOTP_DIGITS } from '../../limits.ts'
import type { Factor, NewFactor } from '../../service/accounts/totp.ts'
import { base32 } from '../../service/accounts/totp-codes.ts'
import { ruledText, text } from '../fields/fields.ts'
import { CODE_INPUT, TEXT } from '../fields/patterns.ts'
import { nullable, STRING, TIME, UUID } from '../fields/schema.ts'
import { form, representation } from '../fields/table.ts'

/** The name of a factor, or of a passkey. */
export const name = text({ trim: true })
  .test(
    'length',
    `Ensure this field has no more than ${FACTOR_NAME_LENGTH} characters.`,
    (value = '') => characters(value) <= FACTOR_NAME_LENGTH,
  )
  .meta({ accepted: { ...TEXT, maxLength: FACTOR_NAME_LENGTH } })

/** A second factor; in full with its secret. The context is the issuer in the URI (contract §12). */
export const FACTOR = representation<Factor & Partial<NewFactor>, string>()(['Factor', 'NewFactor'], {
  id: { read: UUID, text: 'Identifies the factor.' },
  created: { read: TIME, text: 'The time of its creation.' },
  last_used: { read: nullable(TIME), text: 'The time of the last use of a code. Null: it has no effect yet.' },
  name: {
    write: name,
    text: `For people; at most ${FACTOR_NAME_LENGTH} characters, unique in the account.`,
    example: 'phone',
  },
  secret: {
    readOnce: STRING,
    text: 'The secret in Base32.',
    example: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA',
    from: ({ secret }) => secret && base32(secret),
  },
  uri: {
    readOnce: STRING,
    text: 'The secret as a URI for authenticator apps.',
    example: 'otpauth://totp/dns.example.net:alice@example.org?secret=GEZDGNBVGY3TQOJQ&issuer=dns.example.net',
    from: ({ secret, email }, issuer) => secret && uri(base32(secret), email!, issuer),
  },
})

function uri(secret: string, email: string, host: string): string {
  const [issuer, account] = [host, email].map((part) => encodeURIComponent(part).replaceAll('%40', '@'))
  return `otpauth://totp/${issuer}:${account}?secret=${secret}&issuer=${issuer}`
}

/** A code of a factor, as a member of a request. */
export const code = ruledText({ trim: true }, codeProblems).meta({ accepted: CODE_INPUT })

/** A code of a factor (contract §12). */
export const CODE = form('Code', ['code'], {
  code: { write: code, text: `The ${TOTP_DIGITS} digits that the authenticator shows.`, example: '123456' },
})

function codeProblems(value: string): string[] {
  const length = characters(value)
  const problems: string[] = []
  if (length > TOTP_DIGITS) problems.push(`Ensure this field has no more than ${TOTP_DIGITS} characters.`)
  if (length < TOTP_DIGITS) problems.push(`Ensure this field has at least ${TOTP_DIGITS} characters.`)
  if (!/^[0-9]+$/.test(value)) problems.push('This value does not match the required pattern.')
  return problems
}
