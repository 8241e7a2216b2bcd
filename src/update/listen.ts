import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net'
import { reasonOf, StartError } from '../errors.ts'
import {
  EXPORT_TIME,
  STOP_TIME,
  TAKING_TIME,
  UPDATE_CONNECTIONS,
  UPDATE_DATAGRAMS,
  UPDATE_IDLE_TIME,
} from '../limits.ts'
import { networkOf } from '../service/throttling/callers.ts'
import type { System } from '../system.ts'
import { UpdateDoor } from './exchange.ts'

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
  const listener = new Listener(new UpdateDoor(system))
  try {
    for (const host of hosts) await listener.open(host, wanted)
  } catch (error) {
    await listener.close()
    throw error
  }
  return listener
}

class Listener implements UpdateListener {
  readonly #door: UpdateDoor
  readonly #servers: Server[] = []
  readonly #datagrams: Datagrams[] = []
  /** The open connections, and whether a message is in work on them. */
  readonly #connections = new Map<Socket, { client: string; isBusy: boolean }>()
  readonly #working = new Set<Promise<void>>()
  #received = 0
  #isClosed = false
  port = 0

  constructor(door: UpdateDoor) {
    this.#door = door
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
    if (this.#isClosed || this.#received >= UPDATE_DATAGRAMS) return
    this.#received++
    const send = async (message: Buffer) =>
      new Promise<void>((resolve) => {
        datagrams.send(message, port, address, () => {
          resolve()
        })
      })
    const gone = new AbortController().signal
    const peer = { address: plain(address), isTcp: false, send, gone, end: () => undefined }
    this.#track(this.#door.answer(octets, peer).finally(() => this.#received--))
  }

  #track(work: Promise<void>): void {
    this.#working.add(work)
    void work.finally(() => this.#working.delete(work))
  }

  #connect(socket: Socket): void {
    const address = plain(socket.remoteAddress ?? '')
    const client = address === '' ? '' : networkOf(address)
    const others = [...this.#connections.values()].filter((each) => each.client === client).length
    if (
      address === '' ||
      this.#isClosed ||
      others >= UPDATE_CONNECTIONS.each ||
      this.#connections.size >= UPDATE_CONNECTIONS.all
    ) {
      // prettier-ignore
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
    { address, gone, state }: { address: string; gone: AbortSignal; state: { isBusy: boolean } },
  ): Promise<void> {
    const end = () => socket.destroy()
    const send = async (message: Buffer) => {
      const length = Buffer.from([message.length >> 8, message.length & 0xff])
      if (socket.destroyed || socket.write(Buffer.concat([length, message]))) return
      const late = setTimeout(end, TAKING_TIME)
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined)
      clearTimeout(late)
    }
    const messages = messagesOf(socket)
    const serveNext = async () => {
      const idle = setTimeout(end, UPDATE_IDLE_TIME)
      const { value } = await messages.next().catch(() => ({ value: undefined }))
      clearTimeout(idle)
      if (value === undefined || this.#isClosed) return false
      state.isBusy = true
      const late = setTimeout(end, EXPORT_TIME)
      await this.#door.answer(value, { address, isTcp: true, send, gone, end })
      clearTimeout(late)
      state.isBusy = false
      return true
    }
    while (!this.#isClosed && (await serveNext()));
  }
}

/** Returns the messages that come on a connection (RFC 1035 §4.2.2). */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer, undefined> {
  let rest = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer])
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0)
      yield rest.subarray(2, end)
      rest = rest.subarray(end)
    }
  }
  return undefined
}

/** Returns an address without its zone, and an IPv4 address that is mapped to IPv6 as such. */
function plain(address: string): string {
  return address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
}
