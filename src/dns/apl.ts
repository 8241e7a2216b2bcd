import { networkMask, parseIPv4, parseIPv6, printIPv4, printIPv6Dotted } from './addresses.ts'
import { decimal, type Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { decodeUint, encodeUint, split, take, takeSome } from './octets.ts'
import { word } from './presentation.ts'

/** Address families by number, with the octets of an address. */
const FAMILIES = new Map([
  [1, { size: 4, parse: parseIPv4, print: printIPv4 }],
  [2, { size: 16, parse: parseIPv6, print: printIPv6Dotted }],
])

interface Item {
  family: number
  /** In bits. */
  prefix: number
  negated: boolean
  /** All of its octets. */
  address: string
}

/** Octets of an item before its address: family, prefix length, and negation with the length of the address. */
const HEAD = 4

/** A list of address prefixes (RFC 3123 §4). Bits beyond a prefix are cleared. */
export const prefixes: Field = {
  rest: true,
  read(tokens) {
    if (tokens.length === 0) throw new Unreadable('expecting another identifier')
    return tokens.map((token) => encode(parse(word(token)))).join('')
  },
  take(wire) {
    if (splitItems(takeSome(wire)).some((item) => encode(decode(item)) !== item)) {
      throw new Unreadable('the data of a prefix has bits beyond its length, or zeros at its end')
    }
    return wire
  },
  print: (octets) => splitItems(octets).map(decode).map(print).join(' '),
}

function parse(text: string): Item {
  const [, negation, number, address, prefix] = /^(!?)([0-9]+):([^/]+)\/([0-9]+)$/.exec(text) ?? []
  if (prefix === undefined) throw new Unreadable(`expecting [!]family:address/prefix length, got "${text}"`)
  const family = decimal(number!, 16)
  const negated = negation !== ''
  return { family, prefix: decimal(prefix, 8), negated, address: familyOf(family).parse(address!) }
}

function print({ family, prefix, negated, address }: Item): string {
  return `${negated ? '!' : ''}${family}:${familyOf(family).print(address)}/${prefix}`
}

function encode({ family, prefix, negated, address }: Item): string {
  if (prefix > 8 * address.length) {
    throw new Unreadable(`a prefix of family ${family} is not longer than ${8 * address.length} bits`)
  }
  const octets = Array.from(address, (octet, i) => String.fromCharCode(octet.charCodeAt(0) & networkMask(prefix, i)))
  const afd = octets.join('').replace(/\0+$/, '')
  return encodeUint(family, 2) + encodeUint(prefix, 1) + encodeUint((negated ? 128 : 0) + afd.length, 1) + afd
}

function decode(item: string): Item {
  const family = decodeUint(item.slice(0, 2))
  const { size } = familyOf(family)
  const address = item.slice(HEAD, HEAD + size).padEnd(size, '\0')
  return { family, prefix: item.charCodeAt(2), negated: item.charCodeAt(3) > 127, address }
}

function splitItems(wire: string): string[] {
  return split(wire, (rest) => take(rest, HEAD + (take(rest, HEAD).charCodeAt(3) & 127)))
}

function familyOf(number: number) {
  const family = FAMILIES.get(number)
  if (!family) throw new Unreadable(`address family ${number} is neither 1 (IPv4) nor 2 (IPv6)`)
  return family
}
