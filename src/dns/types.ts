import { prefixes } from './apl.ts'
import { types } from './bitmap.ts'
import { ALGORITHMS, CERTIFICATE_TYPES, checkCertificate, checkDigest, checkDigestLength } from './dnssec.ts'
import {
  alias, base64, caaTag, characterString, exactName, exchange, groups, hex, host, ipv4, ipv6, name, strings, target,
  text, u16, u32, u8, uint, type Field,
} from './fields.ts' // prettier-ignore
import { location } from './loc.ts'
import { characters } from './presentation.ts'
import { checkAlias, parameters } from './svcb.ts'

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

const certificate = [uint(2, CERTIFICATE_TYPES), u16, algorithm, base64]
const rewriting = [u16, u16, characterString, characterString, characterString, name]
const key = [u16, u8, algorithm, base64]
const digest = [u16, algorithm, u8, hex]
const fingerprint = [u8, u8, u8, hex]
const service = [u16, exactName, parameters]
const identifier = [u16, groups(4, 4, ':')]

const ROWS: readonly RecordType[] = [
  { number: 1, mnemonic: 'A', rfc: '1035', fields: [ipv4] },
  { number: 2, mnemonic: 'NS', rfc: '1035', fields: [host] },
  { number: 5, mnemonic: 'CNAME', rfc: '1035, 2181', fields: [alias], single: true, alone: true, apex: 'never' },
  { number: 12, mnemonic: 'PTR', rfc: '1035', fields: [name] },
  { number: 13, mnemonic: 'HINFO', rfc: '1035', fields: [characterString, characterString] },
  { number: 15, mnemonic: 'MX', rfc: '1035, 7505', fields: [u16, exchange] },
  { number: 16, mnemonic: 'TXT', rfc: '1035', fields: [strings], quoted: true },
  { number: 17, mnemonic: 'RP', rfc: '1183', fields: [name, name] },
  { number: 18, mnemonic: 'AFSDB', rfc: '1183, 5864', fields: [u16, name] },
  { number: 28, mnemonic: 'AAAA', rfc: '3596, 5952', fields: [ipv6] },
  { number: 29, mnemonic: 'LOC', rfc: '1876', fields: [location] },
  { number: 33, mnemonic: 'SRV', rfc: '2782', fields: [u16, u16, u16, target] },
  { number: 35, mnemonic: 'NAPTR', rfc: '3403', fields: rewriting },
  { number: 36, mnemonic: 'KX', rfc: '2230', fields: [u16, name] },
  { number: 37, mnemonic: 'CERT', rfc: '4398', fields: certificate, check: checkCertificate },
  { number: 39, mnemonic: 'DNAME', rfc: '6672', fields: [name], single: true },
  { number: 42, mnemonic: 'APL', rfc: '3123', fields: [prefixes] },
  { number: 43, mnemonic: 'DS', rfc: '4034, 4509, 6605', fields: digest, check: checkDigest, apex: 'never' },
  { number: 44, mnemonic: 'SSHFP', rfc: '4255, 6594', fields: [u8, u8, hex] },
  { number: 48, mnemonic: 'DNSKEY', rfc: '4034', fields: key, apex: 'only' },
  { number: 49, mnemonic: 'DHCID', rfc: '4701', fields: [base64] },
  { number: 52, mnemonic: 'TLSA', rfc: '6698', fields: fingerprint },
  { number: 53, mnemonic: 'SMIMEA', rfc: '8162', fields: fingerprint },
  { number: 59, mnemonic: 'CDS', rfc: '7344, 8078', fields: digest, check: checkDigestLength },
  { number: 60, mnemonic: 'CDNSKEY', rfc: '7344, 8078', fields: key },
  { number: 61, mnemonic: 'OPENPGPKEY', rfc: '7929', fields: [base64] },
  { number: 62, mnemonic: 'CSYNC', rfc: '7477', fields: [u32, u16, types] },
  { number: 64, mnemonic: 'SVCB', rfc: '9460', fields: service, check: checkAlias },
  { number: 65, mnemonic: 'HTTPS', rfc: '9460', fields: service, check: checkAlias },
  { number: 99, mnemonic: 'SPF', rfc: '7208', fields: [strings], quoted: true },
  { number: 104, mnemonic: 'NID', rfc: '6742', fields: identifier },
  { number: 105, mnemonic: 'L32', rfc: '6742', fields: [u16, ipv4] },
  { number: 106, mnemonic: 'L64', rfc: '6742', fields: identifier },
  { number: 107, mnemonic: 'LP', rfc: '6742', fields: [u16, exactName] },
  { number: 108, mnemonic: 'EUI48', rfc: '7043', fields: [groups(6, 2, '-')] },
  { number: 109, mnemonic: 'EUI64', rfc: '7043', fields: [groups(8, 2, '-')] },
  { number: 256, mnemonic: 'URI', rfc: '7553', fields: [u16, u16, text] },
  { number: 257, mnemonic: 'CAA', rfc: '8659', fields: [u8, caaTag, text] },
  { number: 32769, mnemonic: 'DLV', rfc: '4431', fields: digest, check: checkDigest },
]

/** The supported types by mnemonic. */
export const TYPES: ReadonlyMap<string, RecordType> = new Map(ROWS.map((row) => [row.mnemonic, row]))

/** The types that the service makes itself (contract §8.9). */
export const AUTOMATIC_TYPES: ReadonlySet<string> = new Set('SOA RRSIG NSEC NSEC3 NSEC3PARAM KEY OPT'.split(' '))

/** The longest `type` (contract §8.4). */
const MAX_TYPE = 10

/** The texts about what cannot be a type, supported or not (contract §8.4). */
export function typeSyntaxProblems(type: string): string[] {
  const texts: string[] = []
  if (characters(type) > MAX_TYPE) texts.push(`Ensure this field has no more than ${MAX_TYPE} characters.`)
  if (type !== type.toUpperCase()) texts.push(`Invalid value (not uppercase): ${type}`)
  if (!/^[A-Z][A-Z0-9]*$/.test(type)) texts.push('Type must be uppercase alphanumeric and start with a letter.')
  return texts
}

/** The texts about the field `type` of an RRset (contract §8.4, §8.9); none if it is a supported type. */
export function typeProblems(type: string): string[] {
  const texts = typeSyntaxProblems(type)
  if (texts.length > 0 || TYPES.has(type)) return texts
  if (AUTOMATIC_TYPES.has(type)) return [`You cannot tinker with the ${type} RR set. It is managed automatically.`]
  if (type.startsWith('TYPE')) return ['Generic type format is not supported.']
  return [`The ${type} RR set type is currently unsupported.`]
}
