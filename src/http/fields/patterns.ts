import { SUBNAME_LENGTH } from '../../dns/names.ts'
import { TYPES } from '../../dns/types.ts'
import {
  DOMAIN_NAME_LENGTH,
  MESSAGE_LENGTH,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  TOTP_DIGITS,
  TTL_MAX,
} from '../../limits.ts'
import type { Component, JsonSchema } from './schema.ts'

/**
 * The schemas of texts in requests, as far as a pattern says which ones the service accepts. They are understood by all
 * dialects of regular expressions. Many fields also accept numbers (contract §1.4); here only those that can be right.
 */

/** Returns the schema of text that the service trims, without anchors. */
function trimmed(pattern: string, others: JsonSchema = {}): JsonSchema {
  return { type: 'string', pattern: String.raw`^\s*(${pattern})\s*$`, ...others }
}

/** Texts and numbers, which become text. */
export const TEXT: JsonSchema = { type: ['string', 'number'], pattern: String.raw`^[^\u0000]*$` }
export const NON_EMPTY_TEXT: JsonSchema = { type: ['string', 'number'], pattern: String.raw`^[^\u0000]+$` }
export const NON_BLANK = String.raw`^[^\u0000]*[^\s\u0000][^\u0000]*$`

/** One line for people, as `messageProblem` wants it. */
export const LINE: JsonSchema = {
  type: ['string', 'number'],
  pattern: String.raw`^\s*[^\u0000-\u001f\u007f-\u009f\u2028\u2029]{0,${MESSAGE_LENGTH}}\s*$`,
}

/** The name of a domain: not of a top-level domain. */
export const DOMAIN_NAME: JsonSchema = {
  anyOf: [
    {
      type: 'string',
      pattern: String.raw`^[a-z0-9-][a-z0-9_-]{0,62}\.([a-z0-9_-]{1,63}\.)*[a-z0-9-]{1,63}$`,
      maxLength: DOMAIN_NAME_LENGTH,
    },
    { type: 'number', minimum: 1, maximum: 1e15, not: { type: 'integer' } },
  ],
}

export const SUBNAME_TEXT = trimmed(String.raw`|\*|(\*\.)?([a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}`, {
  maxLength: SUBNAME_LENGTH,
})
/** With `*` and no `**`, or with one `**` that no `*` follows. */
export const SUBNAME_PATTERN = trimmed(
  String.raw`([a-z0-9_-]{1,63}\.)*\*(\.([a-z0-9_-]{1,63}|\*))*|(([a-z0-9_-]{1,63}|\*)\.)*\*\*(\.[a-z0-9_-]{1,63}(\.([a-z0-9_-]{1,63}|\*))*)?`,
  { maxLength: SUBNAME_LENGTH },
)
/** Larger numbers become texts with a plus sign. */
export const SUBNAME: JsonSchema = {
  anyOf: [SUBNAME_TEXT, { type: 'number', exclusiveMinimum: -1e21, exclusiveMaximum: 1e21 }],
}

/** The type of an RRset that can be written, and that of a policy. */
export const RRSET_TYPE = trimmed([...TYPES.keys()].join('|'))
export const TYPE = trimmed('[A-Z][A-Z0-9]{0,9}')

export const TTL: Component = {
  title: 'TtlInput',
  description: 'A TTL in seconds, also as text.',
  anyOf: [
    { type: 'integer', minimum: 1, maximum: TTL_MAX },
    trimmed(String.raw`\+?0*([1-9]\d{0,3}|[1-7]\d{4}|8[0-5]\d{3}|86[0-3]\d\d|86400)(\.0*)?`),
  ],
  examples: [3600],
}

/** A serial (RFC 1035 §3.3.13). */
export const VERSION_INPUT: Component = {
  title: 'VersionInput',
  description: 'A version of a domain, also as text.',
  anyOf: [{ type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 }, trimmed(String.raw`\+?\d{1,10}(\.0*)?`)],
  examples: [1795297087],
}

export const TIME_INPUT = trimmed(
  String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)`,
)

const ATOM = "[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+"
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
export const EMAIL_INPUT = trimmed(String.raw`${ATOM}(\.${ATOM})*@(${LABEL}\.)+${LABEL}`, { maxLength: 254 })

export const NEW_PASSWORD = trimmed(
  String.raw`[^\s\u0000][^\u0000]{${PASSWORD_LENGTH_MIN - 2},${PASSWORD_LENGTH_MAX - 2}}[^\s\u0000]`,
)

export const CODE_INPUT: JsonSchema = {
  anyOf: [
    trimmed(`[0-9]{${TOTP_DIGITS}}`),
    { type: 'integer', minimum: 10 ** (TOTP_DIGITS - 1), maximum: 10 ** TOTP_DIGITS - 1 },
  ],
}

const IPV4 = String.raw`((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
const ONES = '(0|128|192|224|240|248|252|254|255)'
const MASK = String.raw`${ONES}\.0\.0\.0|255\.${ONES}\.0\.0|255\.255\.${ONES}\.0|255\.255\.255\.${ONES}`
const GROUP = '[0-9A-Fa-f]{1,4}'
/** With some groups before `::`, which stands for at least one. */
const SHORT = [1, 2, 3, 4, 5, 6].map((after) => `(${GROUP}:){1,${7 - after}}(:${GROUP}){1,${after}}`)
const IPV6 = `(${GROUP}:){7}${GROUP}|(${GROUP}:){1,7}:|${SHORT.join('|')}|:((:${GROUP}){1,7}|:)`

/** An address, or a network. */
export const NETWORK = trimmed(String.raw`${IPV4}(/(3[0-2]|[12]?\d|${MASK}))?|(${IPV6})(/(12[0-8]|1[01]\d|[1-9]?\d))?`)

const NUMBER = String.raw`\d+([.,]\d+)?`
const TIME_OF_ISO = `T(${NUMBER}H(${NUMBER}M)?(${NUMBER}S)?|${NUMBER}M(${NUMBER}S)?|${NUMBER}S)`

/** Every form of a duration (contract §5.3). A negative time can only be subtracted from days. */
export const DURATION_TEXT = trimmed(
  String.raw`(\d+ (days?,? )?-?)?((\d+:)?\d+:)?${NUMBER}|\d+ days?|-PT0S|\+?P(${NUMBER}D(${TIME_OF_ISO})?|${TIME_OF_ISO})`,
).pattern as string
