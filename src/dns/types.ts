import { prefixes } from './codecs/apl.ts'
import {
  alias, base64, caaTag, characterString, exchange, type Field,
groups, hex, host, ipv4, ipv6, lowerName, name, strings,
  substitution, target, text, u8, u16, u32, uint, } from './codecs/fields.ts' // prettier-ignore
import { location } from './codecs/loc.ts'
import { checkAlias, parameters } from './codecs/svcb.ts'
import { ALGORITHMS, CERTIFICATE_TYPES, checkCertificate, checkDigest, checkDigestLength } from './dnssec.ts'
import { characters } from './presentation.ts'
import { REGISTRY, types } from './registry.ts'

/** A supported record type. */
export interface RecordType {
  rfc: string
  /** The rdata, in order. */
  fields: readonly Field[]
  /** Checks the whole record, by the wire form of each field. @throws Unreadable */
  check?: (fields: string[]) => void
  /** Marks a field that is a quoted string in the API. */
  quoted?: true
  /** An RRset has at most one record. */
  single?: true
  /** True if the name may have no RRset of another type. */
  alone?: true
  /** `never`: not allowed at the apex of a zone; `only`: only there; by default, it is allowed everywhere. */
  apex?: 'never' | 'only'
}

const algorithm = uint(1, ALGORITHMS)

const certificate = [uint(2, CERTIFICATE_TYPES), u16, algorithm, base64]
const rewriting = [u16, u16, characterString, characterString, substitution, name]
const key = [u16, u8, algorithm, base64]
const digest = [u16, algorithm, u8, hex]
const fingerprint = [u8, u8, u8, hex]
const service = [u16, lowerName, parameters]
const identifier = [u16, groups(4, 4, ':')]

const ROWS: Record<keyof typeof REGISTRY.supported, RecordType> = {
  A: { rfc: '1035', fields: [ipv4] },
  NS: { rfc: '1035', fields: [host] },
  CNAME: { rfc: '1035, 2181', fields: [alias], single: true, alone: true, apex: 'never' },
  PTR: { rfc: '1035', fields: [name] },
  HINFO: { rfc: '1035', fields: [characterString, characterString] },
  MX: { rfc: '1035, 7505', fields: [u16, exchange] },
  TXT: { rfc: '1035', fields: [strings], quoted: true },
  RP: { rfc: '1183', fields: [name, name] },
  AFSDB: { rfc: '1183, 5864', fields: [u16, name] },
  AAAA: { rfc: '3596, 5952', fields: [ipv6] },
  LOC: { rfc: '1876', fields: [location] },
  SRV: { rfc: '2782', fields: [u16, u16, u16, target] },
  NAPTR: { rfc: '3403, 3402', fields: rewriting },
  KX: { rfc: '2230', fields: [u16, name] },
  CERT: { rfc: '4398', fields: certificate, check: checkCertificate },
  DNAME: { rfc: '6672', fields: [name], single: true },
  APL: { rfc: '3123', fields: [prefixes] },
  DS: { rfc: '4034, 4509, 6605', fields: digest, check: checkDigest, apex: 'never' },
  SSHFP: { rfc: '4255, 6594', fields: [u8, u8, hex] },
  DNSKEY: { rfc: '4034', fields: key, apex: 'only' },
  DHCID: { rfc: '4701', fields: [base64] },
  TLSA: { rfc: '6698', fields: fingerprint },
  SMIMEA: { rfc: '8162', fields: fingerprint },
  CDS: { rfc: '7344, 8078', fields: digest, check: checkDigestLength },
  CDNSKEY: { rfc: '7344, 8078', fields: key },
  OPENPGPKEY: { rfc: '7929', fields: [base64] },
  CSYNC: { rfc: '7477', fields: [u32, u16, types] },
  SVCB: { rfc: '9460', fields: service, check: checkAlias },
  HTTPS: { rfc: '9460', fields: service, check: checkAlias },
  SPF: { rfc: '7208', fields: [strings], quoted: true },
  NID: { rfc: '6742', fields: identifier },
  L32: { rfc: '6742', fields: [u16, ipv4] },
  L64: { rfc: '6742', fields: identifier },
  LP: { rfc: '6742', fields: [u16, lowerName] },
  EUI48: { rfc: '7043', fields: [groups(6, 2, '-')] },
  EUI64: { rfc: '7043', fields: [groups(8, 2, '-')] },
  URI: { rfc: '7553', fields: [u16, u16, text] },
  CAA: { rfc: '8659', fields: [u8, caaTag, text] },
  DLV: { rfc: '4431', fields: digest, check: checkDigest },
}

/** The supported types by name. */
export const TYPES: ReadonlyMap<string, RecordType> = new Map(Object.entries(ROWS))

/** The types that only the service writes (contract §8.9). */
export const AUTOMATIC_TYPES: ReadonlySet<string> = new Set(Object.keys(REGISTRY.automatic))

const { supported, automatic, unsupported, powerdns, unnamed } = REGISTRY
const RECORD_TYPES = new Set([...Object.keys({ ...supported, ...automatic, ...unsupported, ...powerdns }), ...unnamed])

/** Reports whether this is a type of records, supported or not; if not, a zone file has a syntax error. */
export function isType(type: string): boolean {
  return RECORD_TYPES.has(type) || /^TYPE[0-9]{1,5}$/.test(type)
}

/** The longest `type` (contract §8.4). */
const MAX_TYPE = 10

/** Returns the error texts about the syntax of a type, supported or not (contract §8.4). */
export function typeSyntaxProblems(type: string): string[] {
  const texts: string[] = []
  if (characters(type) > MAX_TYPE) texts.push(`Ensure this field has no more than ${MAX_TYPE} characters.`)
  if (type !== type.toUpperCase()) texts.push(`Invalid value (not uppercase): ${type}`)
  if (!/^[A-Z][A-Z0-9]*$/.test(type)) texts.push('Type must be uppercase alphanumeric and start with a letter.')
  return texts
}

/** Returns the error texts about the field `type` of an RRset (contract §8.4, §8.9); none if it is a supported type. */
export function typeProblems(type: string): string[] {
  const texts = typeSyntaxProblems(type)
  if (texts.length > 0 || TYPES.has(type)) return texts
  if (AUTOMATIC_TYPES.has(type)) return [`You cannot tinker with the ${type} RR set. It is managed automatically.`]
  if (type.startsWith('TYPE')) return ['Generic type format is not supported.']
  return [`The ${type} RR set type is currently unsupported.`]
}
