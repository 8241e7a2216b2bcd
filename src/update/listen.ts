import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net'
import { lacksIPv6, reasonOf, StartError } from '../errors.ts'
import { EXPORT_TIME, STOP_TIME, TAKING_TIME } from '../limits.ts'
import { type Address, isTrusted, networkOf, parseAddress } from '../service/throttling/callers.ts'
import type { System } from '../system.ts'
import { UpdateDoor } from './door.ts'
import { readProxyHeader } from './proxies.ts'

/** Messages by UDP in work in a process, beyond which they are dropped (contract §21.6). */
const DATAGRAMS = 256

/** Connections of one client, and of all; milliseconds for which one may be idle (contract §21.6). */
const CONNECTIONS = { each: 64, all: 512 }
const IDLE_TIME = 10_000

/** The listeners for DNS UPDATE. */
export interface UpdateListener {
  /** The port, of UDP and TCP, the same on every address. */
  port: number
  /** Takes no more messages, and finishes those in work. */
  close(): Promise<void>
}

/** Takes DNS UPDATE (contract §21); undefined without DNS_UPDATE_PORT. @throws StartError */
export async function listenForUpdates(system: System): Promise<UpdateListener | undefined> {
  const { dnsUpdateHosts: hosts, dnsUpdatePort: wanted } = system.config
  if (wanted === undefined) return undefined
  const listener = new Listener(system)
  for (const host of hosts) {
    try {
      await listener.open(host, wanted)
    } catch (error) {
      if (hosts.length > 1 && lacksIPv6(host, error as StartError)) continue
      await listener.close()
      throw error
    }
  }
  return listener
}

/** An open connection. */
interface Connection {
  /** undefined: a trusted proxy */
  client: string | undefined
  /** Whether a message is in work. */
  isBusy: boolean
}

class Listener implements UpdateListener {
  readonly #system: System
  readonly #door: UpdateDoor
  readonly #servers: Server[] = []
  readonly #datagrams: Datagrams[] = []
  readonly #connections = new Map<Socket, Connection>()
  readonly #working = new Set<Promise<void>>()
  #received = 0
  #isClosed = false
  port = 0

  constructor(system: System) {
    this.#system = system
    this.#door = new UpdateDoor(system)
  }

  /** Listens on an address, by TCP and UDP. @throws StartError */
  async open(host: string, wanted: number): Promise<void> {
    // A client that sends no more still gets its answers.
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#connect(socket)
    })
    const datagrams = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', ipv6Only: isIPv6(host) })
    try {
      server.listen({ host, port: this.port || wanted, ipv6Only: true })
      await once(server, 'listening')
      this.#servers.push(server)
      this.port = (server.address() as AddressInfo).port
      datagrams.bind(this.port, host)
      await once(datagrams, 'listening')
      this.#datagrams.push(datagrams)
    } catch (error) {
      datagrams.close()
      const place = `${host} port ${wanted} (DNS_UPDATE_HOST, DNS_UPDATE_PORT)`
      throw new StartError(`cannot listen on ${place}: ${reasonOf(error)}`, { cause: error })
    }
    datagrams.on('message', (octets, { address, port }) => {
      this.#receive(datagrams, octets, { address, port })
    })
    // A message that cannot be sent: its client is gone.
    datagrams.on('error', () => undefined)
    server.on('error', () => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const closed = this.#servers.map(async (server) => {
      const end = once(server, 'close')
      server.close()
      await end
    })
    for (const [socket, { isBusy }] of this.#connections) if (!isBusy) socket.destroy()
    const late = setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.destroy()
    }, STOP_TIME)
    await Promise.all([...closed, ...this.#working])
    clearTimeout(late)
    for (const datagrams of this.#datagrams) datagrams.close()
  }

  /** Answers a datagram. Those beyond the bound are dropped: their clients send them again. */
  #receive(datagrams: Datagrams, octets: Buffer, { address, port }: { address: string; port: number }): void {
    if (this.#isClosed) return
    if (this.#received >= DATAGRAMS) {
      this.#drop('datagram')
      return
    }
    // Without its zone, and an IPv4 address that is mapped to IPv6 as such.
    const sender = parseAddress(address)!
    const proxied = this.#isProxy(sender) ? headerOf(octets) : { size: 0 }
    if (proxied === undefined) return
    this.#received++
    const send = async (message: Buffer) =>
      new Promise<void>((resolve) => {
        datagrams.send(message, port, address, () => {
          resolve()
        })
      })
    const gone = new AbortController().signal
    const client = proxied.address ?? sender.toString()
    const peer = { address: client, isTcp: false, send, gone, end: () => undefined }
    this.#track(this.#door.answer(octets.subarray(proxied.size), peer).finally(() => this.#received--))
  }

  #isProxy(address: Address): boolean {
    return isTrusted(this.#system.config, address)
  }

  #drop(what: 'datagram' | 'connection'): void {
    this.#system.metrics?.count('zoneplane_dns_dropped_total', { what })
  }

  #track(work: Promise<void>): void {
    this.#working.add(work)
    void work.finally(() => this.#working.delete(work))
  }

  #connect(socket: Socket): void {
    // Without an address, the client is gone.
    const sender = parseAddress(socket.remoteAddress ?? '')
    if (sender === undefined || this.#isClosed) {
      socket.destroy()
      return
    }
    const address = sender.toString()
    const client = this.#isProxy(sender) ? undefined : networkOf(address)
    const others = [...this.#connections.values()].filter((each) => each.client === client)
    if (this.#connections.size >= CONNECTIONS.all || (client !== undefined && others.length >= CONNECTIONS.each)) {
      this.#drop('connection')
      socket.destroy()
      return
    }
    const state = { client, isBusy: false }
    this.#connections.set(socket, state)
    const gone = new AbortController()
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#connections.delete(socket)
      gone.abort('closed')
    })
    this.#track(
      this.#serve(socket, { address, gone: gone.signal, state }).finally(() => {
        socket.destroySoon()
        socket.setTimeout(TAKING_TIME, () => socket.destroy())
      }),
    )
  }

  /** Answers the messages of a connection, one after the other. */
  async #serve(
    socket: Socket,
    { address, gone, state }: { address: string; gone: AbortSignal; state: Connection },
  ): Promise<void> {
    const end = () => socket.destroy()
    const send = async (message: Buffer) => {
      const length = Buffer.from([message.length >> 8, message.length & 0xff])
      if (socket.destroyed || socket.write(Buffer.concat([length, message]))) return
      const late = setTimeout(end, TAKING_TIME)
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined)
      clearTimeout(late)
    }
    let from = address
    const messages = messagesOf(socket, state.client === undefined, (client) => (from = client))
    const serveNext = async () => {
      const idle = setTimeout(end, IDLE_TIME)
      const { value } = await messages.next().catch(() => ({ value: undefined }))
      clearTimeout(idle)
      if (value === undefined || this.#isClosed) return false
      state.isBusy = true
      const late = setTimeout(end, EXPORT_TIME)
      await this.#door.answer(value, { address: from, isTcp: true, send, gone, end })
      clearTimeout(late)
      state.isBusy = false
      return true
    }
    while (!this.#isClosed && (await serveNext()));
  }
}

/**
 * Returns the messages that come on a connection (RFC 1035 §4.2.2).
 * @param isProxied whether it may begin with the header of a proxy
 * @param isFrom gets the client's address in it
 */
async function* messagesOf(
  socket: Socket,
  isProxied: boolean,
  isFrom: (client: string) => void,
): AsyncGenerator<Buffer, undefined> {
  let rest = Buffer.alloc(0)
  let isBegun = !isProxied
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer])
    if (!isBegun) {
      const header = readProxyHeader(rest)
      if (header === undefined) continue
      isBegun = true
      rest = rest.subarray(header.size)
      if (header.address !== undefined) isFrom(header.address)
    }
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0)
      yield rest.subarray(2, end)
      rest = rest.subarray(end)
    }
  }
  return undefined
}

/** Returns the header of a datagram from a proxy; undefined if it is malformed. */
function headerOf(octets: Buffer): ReturnType<typeof readProxyHeader> {
  try {
    return readProxyHeader(octets)
  } catch {
    return undefined
  }
}
