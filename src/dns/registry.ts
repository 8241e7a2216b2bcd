import type { Field } from './codecs/fields.ts'
import { Unreadable } from './malformed.ts'
import { counted, encodeUint, fromBytes, split, take, takeCounted } from './octets.ts'
import { word } from './presentation.ts'

/**
 * All types that have a name, with their numbers, grouped by their treatment in the service. All other types are
 * written TYPEn (RFC 3597 §5).
 */
export const REGISTRY = {
  /** Types that users can write; types.ts describes their fields. */
  supported: {
    A: 1, NS: 2, CNAME: 5, PTR: 12, HINFO: 13, MX: 15, TXT: 16, RP: 17, AFSDB: 18, AAAA: 28, LOC: 29, SRV: 33,
    NAPTR: 35, KX: 36, CERT: 37, DNAME: 39, APL: 42, DS: 43, SSHFP: 44, DNSKEY: 48, DHCID: 49, TLSA: 52, SMIMEA: 53,
    CDS: 59, CDNSKEY: 60, OPENPGPKEY: 61, CSYNC: 62, SVCB: 64, HTTPS: 65, SPF: 99, NID: 104, L32: 105, L64: 106,
    LP: 107, EUI48: 108, EUI64: 109, URI: 256, CAA: 257, DLV: 32_769,
  },
  /** Types that only the service writes (contract §8.9). */
  automatic: { SOA: 6, KEY: 25, OPT: 41, RRSIG: 46, NSEC: 47, NSEC3: 50, NSEC3PARAM: 51 },
  /** Types that the service rejects. */
  unsupported: { MB: 7, MG: 8, MR: 9, MINFO: 14, IPSECKEY: 45, RKEY: 57, ZONEMD: 63 },
  /** Types that the service rejects and whose names PowerDNS 4.7 does not know; so their numbers are never needed. */
  unnamed: [
    'A6', 'AMTRELAY', 'ANAME', 'ATMA', 'AVC', 'BRID', 'CLA', 'DOA', 'DSYNC', 'EID', 'GID', 'GPOS', 'HHIT', 'HIP', 'IPN',
    'ISDN', 'MD', 'MF', 'NIMLOC', 'NINFO', 'NSAP', 'NSAP-PTR', 'NULL', 'NXNAME', 'NXT', 'PX', 'RESINFO', 'RT', 'SIG',
    'SINK', 'TA', 'TALINK', 'UID', 'UINFO', 'UNSPEC', 'WALLET', 'WKS', 'X25',
  ],
  /** Types that the service rejects and whose names only PowerDNS knows. */
  powerdns: { ALIAS: 65_401, LUA: 65_402 },
  /** Types that occur only in queries. */
  queries: { IXFR: 251, AXFR: 252, ANY: 255 },
} // prettier-ignore

const { supported, automatic, unsupported, queries } = REGISTRY

/** The types that have a name in the API's form of a record. */
const NUMBERS = new Map(Object.entries<number>({ ...supported, ...automatic, ...unsupported, ...queries }))
const NAMES = new Map([...NUMBERS].map(([name, number]) => [number, name]))

/** Returns the name of a type. */
export function typeOf(number: number): string {
  return NAMES.get(number) ?? `TYPE${number}`
}

/** Returns the number of a type that has a name. */
export function numberOf(type: string): number {
  return NUMBERS.get(type)!
}

/** The maximum number of types: the text of more would be longer than an RRset may be. */
const MAX_TYPES = 8000

/** A set of types (RFC 4034 §4.1.2), perhaps empty. */
export const types: Field = {
  rest: true,
  read: (tokens) => encode(tokens.map((token) => typeNumber(word(token)))),
  print,
}

function typeNumber(text: string): number {
  const [, digits] = /^TYPE([0-9]+)$/i.exec(text) ?? []
  const number = digits === undefined ? NUMBERS.get(text.toUpperCase()) : Number(digits)
  if (number !== undefined && number > 0 && number < 65_536) return number
  throw new Unreadable(`"${text}" is not a type; others are TYPE1 to TYPE65535`)
}

function encode(numbers: number[]): string {
  const windows = new Map<number, Uint8Array>()
  for (const number of numbers) {
    const bits = windows.get(number >> 8) ?? new Uint8Array(32)
    bits[(number & 255) >> 3]! |= 128 >> (number & 7)
    windows.set(number >> 8, bits)
  }
  return [...windows]
    .sort(([one], [other]) => one - other)
    .map(([window, bits]) => encodeUint(window, 1) + counted(fromBytes(bits).replace(/\0+$/, '')))
    .join('')
}

function print(octets: string): string {
  const types: string[] = []
  for (const window of split(octets, (rest) => take(rest, 1) + takeCounted(rest.slice(1)))) {
    for (let i = 0, number = 256 * window.charCodeAt(0); i < 8 * (window.length - 2); i++, number++) {
      const isThere = window.charCodeAt(2 + (i >> 3)) & (128 >> (i & 7))
      if (isThere) types.push(typeOf(number))
    }
    if (types.length > MAX_TYPES) throw new Unreadable(`there are more than ${MAX_TYPES} types`)
  }
  return types.join(' ')
}
