import { parseIPv4, parseIPv6, printIPv4, printIPv6 } from '../../dns/addresses.ts'
import { Unreadable } from '../../dns/malformed.ts'
import { array, NULL, type Problem } from './fields.ts'

/** An array of networks and addresses, read as networks in CIDR notation (contract §5.4). */
export function networks() {
  return array(readNetwork)
}

function readNetwork(item: unknown): string | Problem {
  if (item === null) return { problem: NULL }
  const network = typeof item === 'string' ? parseNetwork(item.trim()) : undefined
  if (network === undefined) return { problem: 'Invalid CIDR address.' }
  const { octets, length } = network
  const bits = Array.from(octets, (octet) => octet.charCodeAt(0).toString(2).padStart(8, '0')).join('')
  if (bits.slice(length).includes('1')) return { problem: 'Must be a network address.' }
  return `${octets.length === 4 ? printIPv4(octets) : printIPv6(octets)}/${length}`
}

function parseNetwork(text: string): { octets: string; length: number } | undefined {
  const [address = '', mask, ...rest] = text.split('/')
  if (rest.length > 0) return undefined
  try {
    const octets = address.includes(':') ? parseIPv6(address) : parseIPv4(address)
    const length = mask === undefined ? 8 * octets.length : prefixLength(mask, octets.length)
    return length === undefined ? undefined : { octets, length }
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/** The prefix length that is written as a number or, of IPv4 networks, as a mask. */
function prefixLength(mask: string, octets: number): number | undefined {
  if (octets === 4 && mask.includes('.')) {
    const bits = Array.from(parseIPv4(mask), (octet) => octet.charCodeAt(0).toString(2).padStart(8, '0')).join('')
    return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined
  }
  return /^\d{1,3}$/.test(mask) && Number(mask) <= 8 * octets ? Number(mask) : undefined
}
