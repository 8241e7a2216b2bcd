import { createSocket, Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { SetupError } from './setup-error.ts'

/** The private servers listen on loopback only. */
export const HOST = '127.0.0.1'

/** The ports of one PowerDNS: DNS (UDP and TCP) and its HTTP API. */
export interface Ports {
  dns: number
  api: number
}

/**
 * Checks that these ports are free; 0 is replaced by a free port. Another program may still take one of them before
 * PowerDNS does.
 */
export async function findPorts(wanted: Ports): Promise<Ports> {
  const bound: (Server | UdpSocket)[] = []
  const bind = async (socket: Server | UdpSocket, what: string, port: number): Promise<number> => {
    bound.push(socket)
    if (socket instanceof UdpSocket) socket.bind({ address: HOST, port, exclusive: true })
    else socket.listen({ host: HOST, port, exclusive: true })
    await once(socket, 'listening').catch((error: unknown) => explain(error, what, port))
    return (socket.address() as AddressInfo).port
  }
  try {
    const api = await bind(createServer(), "PowerDNS' API", wanted.api)
    for (let tries = 1; ; tries++) {
      const dns = await bind(createServer(), 'DNS over TCP', wanted.dns)
      try {
        await bind(createSocket('udp4'), 'DNS over UDP', dns)
        return { dns, api }
      } catch (error) {
        // A port that is free for TCP may be taken for UDP.
        if (wanted.dns !== 0 || tries === 20) throw error
      }
    }
  } finally {
    for (const socket of bound) socket.close()
  }
}

/** Throws an error that names the port and what to do. */
function explain(error: unknown, what: string, port: number): never {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    throw new SetupError(
      `${HOST}:${port} (${what}) is taken by another program. Stop it, or set DNS_PORT to a free port.`,
    )
  }
  if (code === 'EACCES') {
    throw new SetupError(`${HOST}:${port} (${what}) is for root only. Set DNS_PORT to a port above 1023.`)
  }
  throw error
}
