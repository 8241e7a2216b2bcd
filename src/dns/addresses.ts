import { Unreadable } from './malformed.ts'
import { decodeUint, encodeUint, toHex } from './octets.ts'

const OCTET = /^(?:[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$/

/** Reads an IPv4 address into its 4 octets: four decimals, no leading zeros, no short forms. */
export function parseIPv4(text: string): string {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part))) fail()
  return String.fromCharCode(Number(parts[0]), Number(parts[1]), Number(parts[2]), Number(parts[3]))
}

/** Prints 4 octets as an IPv4 address. */
export function printIPv4(wire: string): string {
  return `${wire.charCodeAt(0)}.${wire.charCodeAt(1)}.${wire.charCodeAt(2)}.${wire.charCodeAt(3)}`
}

/** Reads an IPv6 address (RFC 4291 §2.2, a dotted tail included) into its 16 octets. Zone ids are refused. */
export function parseIPv6(text: string): string {
  const dotted = text.lastIndexOf(':') + 1
  const halves = (text.includes('.') ? text.slice(0, dotted) + hexTail(text.slice(dotted)) : text).split('::')
  const [before = [], after = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const given = before.length + after.length
  if (halves.length > 2 || (halves.length === 2 ? given > 7 : given !== 8)) fail()
  const groups = [...before, ...Array<string>(8 - given).fill('0'), ...after]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) fail()
  return groups.map((group) => encodeUint(parseInt(group, 16), 2)).join('')
}

/** Prints 16 octets as an IPv6 address (RFC 5952), but always in hex: PowerDNS refuses dots in AAAA. */
export function printIPv6(wire: string): string {
  const groups = Array.from({ length: 8 }, (_, i) => decodeUint(wire.slice(2 * i, 2 * i + 2)).toString(16))
  const zeros = longestZeros(groups)
  if (zeros.length < 2) return groups.join(':')
  const end = zeros.start + zeros.length
  return `${groups.slice(0, zeros.start).join(':')}::${groups.slice(end).join(':')}`
}

/** Prints 16 octets as inet_ntop(3) does, and so PowerDNS outside AAAA: embedded IPv4 addresses have dots. */
export function printIPv6Dotted(wire: string): string {
  const text = printIPv6(wire)
  const embeds = /^::(ffff:)?[0-9a-f]+:[0-9a-f]+$/.exec(text)
  return embeds ? `::${embeds[1] ?? ''}${printIPv4(wire.slice(12))}` : text
}

/** The bits of an address' octet that belong to a network of so many bits. */
export function networkMask(length: number, octet: number): number {
  return 0xff & (0xff00 >> Math.min(8, Math.max(0, length - 8 * octet)))
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: string[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 }
  let length = 0
  for (const [i, group] of groups.entries()) {
    length = group === '0' ? length + 1 : 0
    if (length > longest.length) longest = { start: i + 1 - length, length }
  }
  return longest
}

/** `192.0.2.1` as the last two groups of an IPv6 address. */
function hexTail(dotted: string): string {
  const wire = parseIPv4(dotted)
  return `${toHex(wire.slice(0, 2))}:${toHex(wire.slice(2))}`
}

function fail(): never {
  throw new Unreadable('Text input is malformed.')
}
