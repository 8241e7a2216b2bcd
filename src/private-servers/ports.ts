import { createSocket, Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { StartError } from '../errors.ts'

/** The address of the private servers, except for DNS if other addresses are given. */
export const HOST = '127.0.0.1'

/** Returns an address to connect to, of a server that listens on `address`, which may stand for all of the machine. */
export function reachable(address: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address
}

/** The ports of one PowerDNS: DNS (UDP and TCP) and its HTTP API. */
export interface Ports {
  dns: number
  api: number
}

/**
 * Checks that these ports are free, that for DNS on each of the hosts; replaces 0 by a free port. Another program can
 * still take one of them before PowerDNS does.
 */
export async function findPorts(wanted: Ports, dnsHosts: string[]): Promise<Ports> {
  const bound: (Server | UdpSocket)[] = []
  const bind = async (socket: Server | UdpSocket, what: string, host: string, port: number): Promise<number> => {
    bound.push(socket)
    if (socket instanceof UdpSocket) socket.bind({ address: host, port, exclusive: true })
    else socket.listen({ host, port, exclusive: true, ipv6Only: host.includes(':') })
    await once(socket, 'listening').catch((error: unknown) => explain(error, what, host, port))
    return (socket.address() as AddressInfo).port
  }
  const bindUdp = (host: string, port: number) => {
    const ipv6Only = host.includes(':')
    return bind(createSocket({ type: ipv6Only ? 'udp6' : 'udp4', ipv6Only }), 'DNS over UDP', host, port)
  }
  try {
    const api = await bind(createServer(), "PowerDNS' API", HOST, wanted.api)
    for (let tries = 1; ; tries++) {
      let { dns } = wanted
      try {
        for (const host of dnsHosts) {
          dns = await bind(createServer(), 'DNS over TCP', host, dns)
          await bindUdp(host, dns)
        }
        return { dns, api }
      } catch (error) {
        // A port that is free for TCP may be taken for UDP, or on another address.
        if (wanted.dns !== 0 || tries === 20) throw error
      }
    }
  } finally {
    for (const socket of bound) socket.close()
  }
}

/** Throws an error that names the port and the remedy. */
function explain(error: unknown, what: string, host: string, port: number): never {
  const { code } = error as NodeJS.ErrnoException
  const address = `${host.includes(':') ? `[${host}]` : host}:${port} (${what})`
  if (code === 'EADDRINUSE') {
    throw new StartError(`${address} is taken by another program. Stop it, or set DNS_PORT to a free port.`)
  }
  if (code === 'EACCES') {
    throw new StartError(`${address} is for root only. Set DNS_PORT to a port above 1023.`)
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') {
    throw new StartError(`${host} is no address of this machine. Set DNS_HOST to addresses that it has.`)
  }
  throw error
}
