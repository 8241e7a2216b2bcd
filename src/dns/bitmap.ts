import type { Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { counted, take, takeCounted } from './octets.ts'
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

/** A set of types (RFC 4034 §4.1.2), which may be empty. */
export const types: Field = {
  rest: true,
  read(tokens) {
    const windows = new Map<number, number[]>()
    for (const token of tokens) {
      const number = typeNumber(word(token))
      const bits = windows.get(number >> 8) ?? Array<number>(32).fill(0)
      bits[(number & 255) >> 3]! |= 128 >> (number & 7)
      windows.set(number >> 8, bits)
    }
    return [...windows]
      .sort(([one], [other]) => one - other)
      .map(([window, bits]) => String.fromCharCode(window) + counted(String.fromCharCode(...bits).replace(/\0+$/, '')))
      .join('')
  },
  take(wire) {
    splitWindows(wire)
    return wire
  },
  print: (octets) => print(octets, MNEMONICS),
  printForPowerDNS: (octets) => print(octets, POWERDNS_MNEMONICS),
}

function typeNumber(text: string): number {
  const [, digits] = /^TYPE([0-9]+)$/i.exec(text) ?? []
  const number = digits === undefined ? NUMBERS.get(text.toUpperCase()) : Number(digits)
  if (number === undefined || !(number > 0 && number < 65_536))
    throw new Unreadable(`"${text}" is not a type; others are TYPE1 to TYPE65535`)
  return number
}

/** Number and bits of each window; it is checked that there is no other way to write the set. */
function splitWindows(wire: string): [number: number, bits: string][] {
  const windows: [number, string][] = []
  for (let at = 0; at < wire.length;) {
    const window = take(wire.slice(at), 1).charCodeAt(0)
    const bits = takeCounted(wire.slice(at + 1)).slice(1)
    if (window <= (windows.at(-1)?.[0] ?? -1)) throw new Unreadable('the windows of types are not in order')
    if (bits.length > 32 || !/[^\0]$/.test(bits)) throw new Unreadable('a window of types has a wrong length')
    if (window === 0 && bits.charCodeAt(0) > 127) throw new Unreadable('type 0 is reserved')
    windows.push([window, bits])
    at += 2 + bits.length
  }
  return windows
}

function typesOf([window, bits]: [number: number, bits: string]): number[] {
  return Array.from({ length: 8 * bits.length }, (_, i) => i)
    .filter((i) => bits.charCodeAt(i >> 3) & (128 >> (i & 7)))
    .map((i) => 256 * window + i)
}

function print(octets: string, mnemonics: ReadonlyMap<number, string>): string {
  return splitWindows(octets)
    .flatMap(typesOf)
    .map((number) => mnemonics.get(number) ?? `TYPE${number}`)
    .join(' ')
}
