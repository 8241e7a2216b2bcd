import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6, type AddressInfo } from 'node:net'
import { SetupError } from './setup-error.ts'

/** The ports of one PowerDNS: DNS (UDP and TCP) and its HTTP API. */
export interface Ports {
  dns: number
  api: number
}

/** Something that is bound to an address and a port, for now. */
interface Held {
  port: number
  release(): Promise<void>
}

/**
 * Ports for DNS on this address and for the API on loopback; 0 asks for one that is free. They are free now; whoever
 * starts a server on them may still find that another program was quicker.
 */
export async function findPorts(dnsHost: string, wanted: Ports): Promise<Ports> {
  const held: Held[] = []
  const keep = (one: Held): number => held.push(one) && one.port
  try {
    const api = keep(await holdTcp('127.0.0.1', wanted.api).catch(explain("PowerDNS' API", '127.0.0.1', wanted.api)))
    for (let tries = 1; ; tries++) {
      const dns = keep(await holdTcp(dnsHost, wanted.dns).catch(explain('DNS over TCP', dnsHost, wanted.dns)))
      try {
        keep(await holdUdp(dnsHost, dns))
        return { dns, api }
      } catch (error) {
        if (wanted.dns !== 0 || tries === 20) explain('DNS over UDP', dnsHost, dns)(error)
      }
    }
  } finally {
    await Promise.all(held.map((one) => one.release()))
  }
}

async function holdTcp(host: string, port: number): Promise<Held> {
  const server = createServer()
  await once(server.listen({ host, port, exclusive: true }), 'listening')
  const release = (): Promise<void> =>
    new Promise((resolve) =>
      server.close(() => {
        resolve()
      }),
    )
  return { port: (server.address() as AddressInfo).port, release }
}

async function holdUdp(host: string, port: number): Promise<Held> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  socket.bind({ address: host, port, exclusive: true })
  await once(socket, 'listening')
  return { port, release: () => new Promise((resolve) => socket.close(resolve)) }
}

/** Says what is wrong with an address, in words that name it. */
function explain(what: string, host: string, port: number): (error: unknown) => never {
  return (error) => {
    const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EADDRINUSE':
        throw new SetupError(
          `${address} (${what}) is taken by another program. Stop it, or set DNS_PORT to a free port.`,
        )
      case 'EADDRNOTAVAIL':
        throw new SetupError(`${address} (${what}) is no address of this machine.`)
      case 'EACCES':
        throw new SetupError(`${address} (${what}) is for root only. Set DNS_PORT to a port above 1023.`)
      default:
        throw error
    }
  }
}
