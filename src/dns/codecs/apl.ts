import { inNetwork, parseNetwork, printIPv4, printIPv6Dotted } from '../addresses.ts'
import { Unreadable } from '../malformed.ts'
import { decodeUint, encodeUint, split, take } from '../octets.ts'
import { word } from '../presentation.ts'
import { decimal, type Field } from './fields.ts'

/** The address families by number; `size` is the number of octets of an address. */
const FAMILIES = new Map([
  [1, { size: 4, print: printIPv4 }],
  [2, { size: 16, print: printIPv6Dotted }],
])

/** The octets of an item before its address: family (2), prefix length, and negation with the address' length. */
const HEAD = 4

/** Longer lists take too long to read. */
const MAX_PREFIXES = 2000

/** A list of address prefixes (RFC 3123 §4). Bits beyond a prefix are cleared. */
export const prefixes: Field = {
  rest: true,
  read(tokens) {
    if (tokens.length === 0) throw new Unreadable('expecting another identifier')
    if (tokens.length > MAX_PREFIXES) throw new Unreadable(`there are more than ${MAX_PREFIXES} prefixes`)
    return tokens.map((token) => encode(word(token))).join('')
  },
  print: (octets) => split(octets, takeItem).map(print).join(' '),
}

function encode(text: string): string {
  const [, negation, number, address, bits] = /^(!?)([0-9]+):([^/]+)\/([0-9]+)$/.exec(text) ?? []
  if (bits === undefined) throw new Unreadable(`expecting [!]family:address/prefix length, got "${text}"`)
  const family = decimal(number!, 16)
  const { size } = familyOf(family)
  const network = parseNetwork(`${address}/${decimal(bits, 8)}`)
  if (network.octets.length !== size) throw new Unreadable('Text input is malformed.')
  const part = inNetwork(network).replace(/\0+$/, '')
  const head = encodeUint(family, 2) + encodeUint(network.length, 1)
  return head + encodeUint((negation ? 128 : 0) + part.length, 1) + part
}

function takeItem(wire: string): string {
  return take(wire, HEAD + (take(wire, HEAD).charCodeAt(3) & 127))
}

function print(item: string): string {
  const family = decodeUint(item.slice(0, 2))
  const { size, print } = familyOf(family)
  const address = print(item.slice(HEAD, HEAD + size).padEnd(size, '\0'))
  return `${item.charCodeAt(3) > 127 ? '!' : ''}${family}:${address}/${item.charCodeAt(2)}`
}

function familyOf(number: number) {
  const family = FAMILIES.get(number)
  if (!family) throw new Unreadable(`address family ${number} is neither 1 (IPv4) nor 2 (IPv6)`)
  return family
}
