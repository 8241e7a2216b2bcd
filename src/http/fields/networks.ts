import { inNetwork, parseIPv4, parseNetwork, printIPv4, printIPv6, type Network } from '../../dns/addresses.ts'
import { Unreadable } from '../../dns/malformed.ts'
import { ALLOWED_SUBNETS_MAX } from '../../limits.ts'
import { array, NULL, type Problem } from './fields.ts'
import { STRING } from './schema.ts'

/** An array of networks and addresses; all become networks in CIDR notation (contract §5.4). */
export function networks() {
  return array(readNetwork, ALLOWED_SUBNETS_MAX, { type: 'string', pattern: String.raw`\d|:` }, STRING)
}

function readNetwork(item: unknown): string | Problem {
  if (item === null) return { problem: NULL }
  const network = typeof item === 'string' ? networkOf(item.trim()) : undefined
  if (network === undefined) return { problem: 'Invalid CIDR address.' }
  const { octets, length } = network
  if (inNetwork(network) !== octets) return { problem: 'Must be a network address.' }
  return `${octets.length === 4 ? printIPv4(octets) : printIPv6(octets)}/${length}`
}

/** An IPv4 network may have a netmask instead of a prefix length. */
function networkOf(text: string): Network | undefined {
  try {
    const [, address, mask] = /^([0-9.]+)\/([0-9]+\.[0-9.]+)$/.exec(text) ?? []
    return parseNetwork(mask === undefined ? text : `${address}/${maskLength(mask)}`)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/** The prefix length that a netmask stands for. @throws Unreadable if its ones are not contiguous from the left */
function maskLength(mask: string): number {
  const bits = Array.from(parseIPv4(mask), (octet) => octet.charCodeAt(0).toString(2).padStart(8, '0')).join('')
  if (!/^1*0*$/.test(bits)) throw new Unreadable('The netmask has gaps.')
  return bits.lastIndexOf('1') + 1
}
