import { connect } from 'node:net'

/**
 * Sends a message over TCP (RFC 1035 §4.2.2), on a connection of its own, and returns the first one that comes back;
 * undefined: none came in time.
 * @param time milliseconds
 */
export async function exchangeOverTcp(
  { address, port }: { address: string; port: number },
  message: Buffer,
  time: number,
): Promise<Buffer | undefined> {
  const socket = connect({ host: address, port })
  const late = setTimeout(() => socket.destroy(), time)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  socket.write(Buffer.concat([length, message]))
  try {
    // A length has 16 bits; what follows the message is left out.
    const octets = Buffer.alloc(2 + 65_535)
    let received = 0
    for await (const chunk of socket) {
      received += (chunk as Buffer).copy(octets, received)
      const end = 2 + octets.readUInt16BE(0)
      if (received >= 2 && received >= end) return octets.subarray(2, end)
    }
    return undefined
  } catch {
    return undefined
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
}
