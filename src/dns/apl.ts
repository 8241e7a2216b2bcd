import { parseIPv4, parseIPv6, printIPv4, printIPv6Dotted } from './addresses.ts'
import { decimal, type Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { decodeUint, encodeUint, take, takeSome } from './octets.ts'
import { word } from './presentation.ts'

/** Address families by number, with the octets of an address. */
const FAMILIES = new Map([
  [1, { size: 4, parse: parseIPv4, print: printIPv4 }],
  [2, { size: 16, parse: parseIPv6, print: printIPv6Dotted }],
])

/** Octets of an item before its address: family, prefix length, and negation with the length of the address. */
const HEAD = 4

/** A list of address prefixes (RFC 3123 §4). Bits beyond a prefix are cleared. */
export const prefixes: Field = {
  rest: true,
  read(tokens) {
    if (tokens.length === 0) throw new Unreadable('expecting another identifier')
    return tokens.map((token) => readItem(word(token))).join('')
  },
  take(wire) {
    splitItems(takeSome(wire)).forEach(checkItem)
    return wire
  },
  print: (octets) => splitItems(octets).map(printItem).join(' '),
}

function readItem(text: string): string {
  const [, negation, family, address, prefix] = /^(!?)([0-9]+):([^/]+)\/([0-9]+)$/.exec(text) ?? []
  if (prefix === undefined) throw new Unreadable(`expecting [!]family:address/prefix length, got "${text}"`)
  const number = decimal(family!, 16)
  return encodeItem(number, decimal(prefix, 8), negation !== '', familyOf(number).parse(address!))
}

function encodeItem(family: number, prefix: number, negated: boolean, address: string): string {
  const { size } = familyOf(family)
  if (prefix > 8 * size) throw new Unreadable(`a prefix of family ${family} is not longer than ${8 * size} bits`)
  const significant = Array.from({ length: size }, (_, i) => {
    const free = Math.min(Math.max(8 * (i + 1) - prefix, 0), 8)
    return String.fromCharCode(address.charCodeAt(i) & (255 << free))
  })
  const octets = significant.join('').replace(/\0+$/, '')
  return encodeUint(family, 2) + encodeUint(prefix, 1) + encodeUint((negated ? 128 : 0) + octets.length, 1) + octets
}

function familyOf(number: number) {
  const family = FAMILIES.get(number)
  if (!family) throw new Unreadable(`address family ${number} is neither 1 (IPv4) nor 2 (IPv6)`)
  return family
}

function splitItems(wire: string): string[] {
  const items: string[] = []
  for (let at = 0; at < wire.length; at += items.at(-1)!.length) {
    const [, , length] = readHead(take(wire.slice(at), HEAD))
    items.push(take(wire.slice(at), HEAD + length))
  }
  return items
}

function readHead(wire: string): [prefix: number, negated: boolean, length: number] {
  const last = wire.charCodeAt(3)
  return [wire.charCodeAt(2), last > 127, last & 127]
}

function decodeItem(item: string) {
  const [prefix, negated] = readHead(item)
  const family = decodeUint(item.slice(0, 2))
  return { family, prefix, negated, address: item.slice(HEAD).padEnd(familyOf(family).size, '\0') }
}

function checkItem(item: string): void {
  const { family, prefix, negated, address } = decodeItem(item)
  if (encodeItem(family, prefix, negated, address) !== item) {
    throw new Unreadable('the data of a prefix has bits beyond its length, or zeros at its end')
  }
}

function printItem(item: string): string {
  const { family, prefix, negated, address } = decodeItem(item)
  return `${negated ? '!' : ''}${family}:${familyOf(family).print(address)}/${prefix}`
}
