import { isIPv4, isIPv6 } from 'node:net'
import { Unreadable } from './malformed.ts'
import { fromHex, toHex } from './octets.ts'

/** Reads an IPv4 address into its 4 octets: four decimals, no leading zeros, no short forms. */
export function parseIPv4(text: string): string {
  if (!isIPv4(text)) throw new Unreadable('Text input is malformed.')
  const [a, b, c, d] = text.split('.')
  return String.fromCharCode(Number(a), Number(b), Number(c), Number(d))
}

/** Prints 4 octets as an IPv4 address. */
export function printIPv4(wire: string): string {
  return `${wire.charCodeAt(0)}.${wire.charCodeAt(1)}.${wire.charCodeAt(2)}.${wire.charCodeAt(3)}`
}

/** Reads an IPv6 address (RFC 4291 §2.2, a dotted tail included) into its 16 octets. Rejects zone ids. */
export function parseIPv6(text: string): string {
  if (!isIPv6(text) || text.includes('%')) throw new Unreadable('Text input is malformed.')
  const [before, after = ''] = shortest(text)
    .split('::')
    .map((half) => half.replace(/[^:]+:?/g, (group) => group.replace(':', '').padStart(4, '0')))
  return fromHex(before! + after.padStart(32 - before!.length, '0'))
}

/** Prints 16 octets as an IPv6 address (RFC 5952), but always in hex: PowerDNS rejects dots in AAAA. */
export function printIPv6(wire: string): string {
  return shortest(toHex(wire).match(/.{4}/g)!.join(':'))
}

/** Prints 16 octets as inet_ntop(3) and PowerDNS (except in AAAA) do: an embedded IPv4 address has dots. */
export function printIPv6Dotted(wire: string): string {
  const text = printIPv6(wire)
  const embeds = /^::(ffff:)?[0-9a-f]+:[0-9a-f]+$/.exec(text)
  return embeds ? `::${embeds[1] ?? ''}${printIPv4(wire.slice(12))}` : text
}

/** Returns the form of an IPv6 address in URLs (WHATWG URL, IPv6 serializer): that of RFC 5952 without dots. */
function shortest(text: string): string {
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}

/** An address and the number of its first bits that name a network. */
export interface Network {
  octets: string
  /** The length in bits. */
  length: number
}

/**
 * Reads `address/length` (RFC 4632 §3.1, RFC 4291 §2.3); without a length, all bits of the address are the network.
 * Host bits are kept.
 * @throws Unreadable
 */
export function parseNetwork(text: string): Network {
  const [address = '', ...lengths] = text.split('/')
  const octets = address.includes(':') ? parseIPv6(address) : parseIPv4(address)
  const bits = 8 * octets.length
  const length = lengths.length === 0 ? String(bits) : lengths.join('/')
  if (/^(0|[1-9][0-9]{0,2})$/.test(length) && Number(length) <= bits) return { octets, length: Number(length) }
  throw new Unreadable(`The length is not a number from 0 to ${bits}.`)
}

/** Reports whether two networks have an address in common. */
export function overlap(one: Network, other: Network): boolean {
  if (one.octets.length !== other.octets.length) return false
  const length = Math.min(one.length, other.length)
  return inNetwork({ ...one, length }) === inNetwork({ octets: other.octets, length })
}

/** Puts the network's bits in place of the first bits of `address`; without `address`, the host bits become 0. */
export function inNetwork({ octets, length }: Network, address = '\0'.repeat(octets.length)): string {
  return Array.from(address, (octet, i) => {
    const mask = 0xff & (0xff00 >> Math.min(8, Math.max(0, length - 8 * i)))
    return String.fromCharCode((octets.charCodeAt(i) & mask) | (octet.charCodeAt(0) & ~mask))
  }).join('')
}
