import type { Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { counted, encodeUint, split, take, takeCounted } from './octets.ts'
import { word } from './presentation.ts'

/** The types with a name, which are those that PowerDNS 4.7 has one for; others are TYPEn (RFC 3597 §5). */
const TYPES = {
  A: 1, NS: 2, CNAME: 5, SOA: 6, MB: 7, MG: 8, MR: 9, PTR: 12, HINFO: 13, MINFO: 14, MX: 15, TXT: 16, RP: 17,
  AFSDB: 18, KEY: 25, AAAA: 28, LOC: 29, SRV: 33, NAPTR: 35, KX: 36, CERT: 37, DNAME: 39, OPT: 41, APL: 42, DS: 43,
  SSHFP: 44, IPSECKEY: 45, RRSIG: 46, NSEC: 47, DNSKEY: 48, DHCID: 49, NSEC3: 50, NSEC3PARAM: 51, TLSA: 52,
  SMIMEA: 53, RKEY: 57, CDS: 59, CDNSKEY: 60, OPENPGPKEY: 61, CSYNC: 62, ZONEMD: 63, SVCB: 64, HTTPS: 65, SPF: 99,
  NID: 104, L32: 105, L64: 106, LP: 107, EUI48: 108, EUI64: 109, IXFR: 251, AXFR: 252, ANY: 255, URI: 256, CAA: 257,
  DLV: 32769,
} // prettier-ignore
const NUMBERS = new Map(Object.entries(TYPES))
const MNEMONICS = new Map([...NUMBERS].map(([mnemonic, number]) => [number, mnemonic]))

/** Names that only PowerDNS knows. */
const POWERDNS_MNEMONICS = new Map([...MNEMONICS, [65_401, 'ALIAS'], [65_402, 'LUA']])

/** The text of more would be longer than an RRset may be. */
const MAX_TYPES = 8000

/** A set of types (RFC 4034 §4.1.2), which may be empty. */
export const types: Field = {
  rest: true,
  read: (tokens) => encode(tokens.map((token) => typeNumber(word(token)))),
  print: (octets) => print(octets, MNEMONICS),
  printForPowerDNS: (octets) => print(octets, POWERDNS_MNEMONICS),
}

function typeNumber(text: string): number {
  const [, digits] = /^TYPE([0-9]+)$/i.exec(text) ?? []
  const number = digits === undefined ? NUMBERS.get(text.toUpperCase()) : Number(digits)
  if (number !== undefined && number > 0 && number < 65_536) return number
  throw new Unreadable(`"${text}" is not a type; others are TYPE1 to TYPE65535`)
}

function encode(numbers: number[]): string {
  const bits = Buffer.alloc(8192)
  for (const number of numbers) bits[number >> 3]! |= 128 >> (number & 7)
  const windows = split(bits.toString('latin1'), 32).map((octets) => octets.replace(/\0+$/, ''))
  return windows.map((octets, i) => (octets === '' ? '' : encodeUint(i, 1) + counted(octets))).join('')
}

function print(octets: string, mnemonics: ReadonlyMap<number, string>): string {
  const names: string[] = []
  for (const window of split(octets, (rest) => take(rest, 1) + takeCounted(rest.slice(1)))) {
    for (let i = 0, number = 256 * window.charCodeAt(0); i < 8 * (window.length - 2); i++, number++) {
      const isThere = window.charCodeAt(2 + (i >> 3)) & (128 >> (i & 7))
      if (isThere) names.push(mnemonics.get(number) ?? `TYPE${number}`)
    }
    if (names.length > MAX_TYPES) throw new Unreadable(`there are more than ${MAX_TYPES} types`)
  }
  return names.join(' ')
}
