import { Unreadable } from './malformed.ts'
import { encodeUint, toHex } from './octets.ts'

const IPV4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/
const GROUP = /^[0-9a-f]{1,4}$/i

/** Reads an IPv4 address into its 4 octets: four decimals, no leading zeros, no short forms. */
export function parseIPv4(text: string): string {
  if (!IPV4.test(text)) throw new Unreadable('Text input is malformed.')
  const [a, b, c, d] = text.split('.')
  return String.fromCharCode(Number(a), Number(b), Number(c), Number(d))
}

/** Prints 4 octets as an IPv4 address. */
export function printIPv4(wire: string): string {
  return `${wire.charCodeAt(0)}.${wire.charCodeAt(1)}.${wire.charCodeAt(2)}.${wire.charCodeAt(3)}`
}

/** Reads an IPv6 address (RFC 4291 §2.2, a dotted tail included) into its 16 octets. Rejects zone ids. */
export function parseIPv6(text: string): string {
  const [before, after, surplus] = withoutDots(text).split('::')
  const [head, tail] = [readGroups(before!), readGroups(after ?? '')]
  const gap = 16 - head.length - tail.length
  // The two colons stand for one group or more.
  const fits = after === undefined ? gap === 0 : gap >= 2
  if (!fits || surplus !== undefined) throw new Unreadable('Text input is malformed.')
  return head + '\0'.repeat(gap) + tail
}

/** Writes the dotted tail of an IPv6 address as two groups. */
function withoutDots(text: string): string {
  if (!text.includes('.')) return text
  const start = text.lastIndexOf(':') + 1
  return text.slice(0, start) + toHex(parseIPv4(text.slice(start))).replace(/.{4}/, '$&:')
}

/** Reads groups of an IPv6 address, perhaps none, which colons separate. */
function readGroups(text: string): string {
  if (text === '') return ''
  return text
    .split(':')
    .map((group) => {
      if (!GROUP.test(group)) throw new Unreadable('Text input is malformed.')
      return encodeUint(parseInt(group, 16), 2)
    })
    .join('')
}

/** Prints 16 octets as an IPv6 address (RFC 5952), but always in hex: PowerDNS rejects dots in AAAA. */
export function printIPv6(wire: string): string {
  const text = toHex(wire).match(/.{4}/g)!.join(':')
  // URLs have the form of RFC 5952 without dots (WHATWG URL, IPv6 serializer).
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}

/** Prints 16 octets as inet_ntop(3) and PowerDNS (except in AAAA) do: an embedded IPv4 address has dots. */
export function printIPv6Dotted(wire: string): string {
  const text = printIPv6(wire)
  const embeds = /^::(ffff:)?[0-9a-f]+:[0-9a-f]+$/.exec(text)
  return embeds ? `::${embeds[1] ?? ''}${printIPv4(wire.slice(12))}` : text
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

/** Returns the name of an address for PTR (RFC 1035 §3.5, RFC 3596 §2.5), without final dot. @param address canonical */
export function reverseName(address: string): string {
  const isIPv4 = !address.includes(':')
  const parts = isIPv4 ? address.split('.') : Array.from(toHex(parseIPv6(address)))
  return `${parts.reverse().join('.')}.${isIPv4 ? 'in-addr' : 'ip6'}.arpa`
}

/**
 * Returns the usual names of classless domains (RFC 2317 §4) that have the PTR of an IPv4 address, the smallest block
 * first: with its first address and its length, and with its first and last address.
 * @param name that of the address; of any other name, there is none
 */
export function classlessDomains(name: string): string[] {
  const [, last, network] = /^(\d+)\.(\d+\.\d+\.\d+\.in-addr\.arpa)$/.exec(name) ?? []
  if (last === undefined) return []
  return [31, 30, 29, 28, 27, 26, 25].flatMap((length) => {
    const size = 2 ** (32 - length)
    const first = Number(last) - (Number(last) % size)
    return [`${first}-${length}.${network}`, `${first}-${first + size - 1}.${network}`]
  })
}
