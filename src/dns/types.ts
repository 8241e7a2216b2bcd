import { ALGORITHMS, checkDigest } from './dnssec.ts'
import { alias, caaTag, hex, host, hostOrRoot, ipv4, ipv6, name, strings, text, u16, u8, uint } from './fields.ts'
import type { Field } from './fields.ts'

/** What is to know of a record type. */
export interface RecordType {
  number: number
  mnemonic: string
  rfc: string
  /** The rdata, in order. */
  fields: readonly Field[]
  /** A rule over the whole record, given the wire form of each field. */
  check?: (fields: string[]) => void
  /** In the API all of it must be quoted strings. */
  quoted?: true
  /** An RRset has one record at most. */
  single?: true
  /** No RRset of another type may stand beside it. */
  alone?: true
  /** Whether it may stand at the apex of a zone: not at all, or nowhere else. Without a word it may. */
  apex?: 'never' | 'only'
}

const algorithm = uint(1, ALGORITHMS)
const exchange = hostOrRoot('exchange')
const target = hostOrRoot('target')

const ROWS: readonly RecordType[] = [
  { number: 1, mnemonic: 'A', rfc: '1035', fields: [ipv4] },
  { number: 2, mnemonic: 'NS', rfc: '1035', fields: [host] },
  { number: 5, mnemonic: 'CNAME', rfc: '1035, 2181', fields: [alias], single: true, alone: true, apex: 'never' },
  { number: 12, mnemonic: 'PTR', rfc: '1035', fields: [name] },
  { number: 15, mnemonic: 'MX', rfc: '1035, 7505', fields: [u16, exchange] },
  { number: 16, mnemonic: 'TXT', rfc: '1035', fields: [strings], quoted: true },
  { number: 28, mnemonic: 'AAAA', rfc: '3596, 5952', fields: [ipv6] },
  { number: 33, mnemonic: 'SRV', rfc: '2782', fields: [u16, u16, u16, target] },
  { number: 43, mnemonic: 'DS', rfc: '4034', fields: [u16, algorithm, u8, hex], check: checkDigest, apex: 'never' },
  { number: 257, mnemonic: 'CAA', rfc: '8659', fields: [u8, caaTag, text] },
]

/** The supported types by mnemonic. */
export const TYPES: ReadonlyMap<string, RecordType> = new Map(ROWS.map((row) => [row.mnemonic, row]))

/** The types that the service makes itself (contract §8.9). */
export const AUTOMATIC_TYPES: ReadonlySet<string> = new Set([
  'SOA',
  'RRSIG',
  'NSEC',
  'NSEC3',
  'NSEC3PARAM',
  'KEY',
  'OPT',
])

/** The longest `type` (contract §8.4). */
export const MAX_TYPE = 10

/** What the contract says to an RRset of this type (§8.4, §8.9). */
export function typeSupport(type: string): 'supported' | 'automatic' | 'generic' | 'unsupported' {
  if (TYPES.has(type)) return 'supported'
  if (AUTOMATIC_TYPES.has(type)) return 'automatic'
  return type.startsWith('TYPE') ? 'generic' : 'unsupported'
}

/** The texts about the field `type` of an RRset (contract §8.4); none if it is a supported type. */
export function typeProblems(type: string): string[] {
  const texts: string[] = []
  if (Array.from(type).length > MAX_TYPE) texts.push(`Ensure this field has no more than ${MAX_TYPE} characters.`)
  if (type !== type.toUpperCase()) texts.push(`Invalid value (not uppercase): ${type}`)
  if (!/^[A-Z][A-Z0-9]*$/.test(type)) texts.push('Type must be uppercase alphanumeric and start with a letter.')
  if (texts.length > 0) return texts
  switch (typeSupport(type)) {
    case 'supported':
      return []
    case 'automatic':
      return [`You cannot tinker with the ${type} RR set. It is managed automatically.`]
    case 'generic':
      return ['Generic type format is not supported.']
    case 'unsupported':
      return [`The ${type} RR set type is currently unsupported.`]
  }
}
