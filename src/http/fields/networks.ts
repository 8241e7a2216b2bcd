import { inNetwork, type Network, parseIPv4, parseNetwork, printIPv4, printIPv6 } from '../../dns/addresses.ts'
import { Unreadable } from '../../dns/malformed.ts'
import { ALLOWED_SUBNETS_MAX } from '../../limits.ts'
import { array, NULL, type Problem } from './fields.ts'
import { NETWORK } from './patterns.ts'
import { STRING } from './schema.ts'

/** Returns the field of an array of networks and addresses; all become networks in CIDR notation (contract §5.4). */
export function networks() {
  return array(readNetwork, ALLOWED_SUBNETS_MAX, NETWORK, STRING)
}

/** Returns the same field, except that an address stays one (contract §15.7). */
export function transferAddresses(max: number) {
  return array(readAddress, max, NETWORK, STRING)
}

function readNetwork(item: unknown): string | Problem {
  const network = parseItem(item)
  return 'problem' in network ? network : `${printAddress(network)}/${network.length}`
}

function readAddress(item: unknown): string | Problem {
  const network = parseItem(item)
  if ('problem' in network) return network
  const address = printAddress(network)
  return network.length === 8 * network.octets.length ? address : `${address}/${network.length}`
}

/** Parses a network without host bits. */
function parseItem(item: unknown): Network | Problem {
  if (item === null) return { problem: NULL }
  const network = typeof item === 'string' ? networkOf(item.trim()) : undefined
  if (network === undefined) return { problem: 'Invalid CIDR address.' }
  return inNetwork(network) === network.octets ? network : { problem: 'Must be a network address.' }
}

/** Prints the first address of a network. */
function printAddress({ octets }: Network): string {
  return octets.length === 4 ? printIPv4(octets) : printIPv6(octets)
}

/** Parses a network. An IPv4 network may have a netmask instead of a prefix length. */
function networkOf(text: string): Network | undefined {
  try {
    const [, address, mask] = /^([0-9.]+)\/([0-9]+\.[0-9.]+)$/.exec(text) ?? []
    return parseNetwork(mask === undefined ? text : `${address}/${maskLength(mask)}`)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/** Converts a netmask to a prefix length. @throws Unreadable if its ones are not contiguous from the left */
function maskLength(mask: string): number {
  const bits = Array.from(parseIPv4(mask), (octet) => octet.charCodeAt(0).toString(2).padStart(8, '0')).join('')
  if (!/^1*0*$/.test(bits)) throw new Unreadable('The netmask has gaps.')
  return bits.lastIndexOf('1') + 1
}
