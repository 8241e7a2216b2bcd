import ipaddr from 'ipaddr.js'

/** The beginning of a header (PROXY protocol §2.2): as a message of DNS, it would have an unused opcode. */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

/** The octets before the addresses, and the commands of version 2. */
const FIXED = 16
const [LOCAL, PROXY] = [0x20, 0x21]

/** The octets of an address by its family. */
const LENGTHS: Record<number, number> = { 1: 4, 2: 16 }

/**
 * Reads the header of version 2 that a proxy puts before a datagram, or at the beginning of a connection.
 * @returns its octets, 0 if there is none, and the client's address, unless the proxy speaks for itself; undefined if the
 *   header does not end yet
 * @throws RangeError if it is malformed, or names no address
 */
export function readProxyHeader(octets: Buffer): { size: number; address?: string } | undefined {
  const begin = octets.subarray(0, SIGNATURE.length)
  if (!begin.equals(SIGNATURE.subarray(0, begin.length))) return { size: 0 }
  if (octets.length < FIXED) return undefined
  const size = FIXED + octets.readUInt16BE(14)
  if (octets.length < size) return undefined
  const command = octets.readUInt8(12)
  if (command === LOCAL) return { size }
  const length = LENGTHS[octets.readUInt8(13) >> 4]
  if (command !== PROXY || length === undefined || size < FIXED + 2 * length + 4)
    throw new RangeError('The PROXY header has no address.')
  const address = ipaddr.fromByteArray([...octets.subarray(FIXED, FIXED + length)])
  return { size, address: ipaddr.process(address.toString()).toString() }
}
