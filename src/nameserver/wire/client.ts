import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { type Question, questionMessage, readReply, type Reply, UDP_PAYLOAD } from './messages.ts'
import { exchangeOverTcp } from './tcp.ts'

/** The messages with the id of a question, but not its answer, after which it is given up. */
const MISFITS_MAX = 8

/** The address and the port of a nameserver. */
export interface Endpoint {
  address: string
  port: number
}

/** The answer of a nameserver about a zone; without a serial, `problem` describes the answer. */
export type Served =
  | { serial: number; problem?: undefined }
  | { serial?: undefined; problem: string }
  /** No answer. */
  | undefined

/** A client that asks a nameserver, and sends it messages, over UDP. Its socket is opened on demand. */
export class DnsClient {
  readonly #endpoint: Endpoint
  #socket: Promise<Socket> | undefined
  /** The callbacks that wait for a message, by the question's id; they get undefined if the socket fails. */
  readonly #waiting = new Map<number, (octets: Buffer | undefined) => void>()

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
  }

  /**
   * Asks once for a zone's SOA. Never rejects.
   * @param zone without final dot
   * @param time milliseconds in which the answer must come
   */
  async ask(zone: string, time: number): Promise<Served> {
    const reply = await this.query({ name: zone, type: 'SOA' }, time).catch(() => undefined)
    return reply && servedBy(reply)
  }

  /**
   * Asks a question, and again over TCP if the answer is truncated. Returns undefined if no answer to exactly this
   * question has come in time, or if eight messages with its id were none.
   * @param time milliseconds
   * @throws the error of the system if it cannot send to the address
   */
  async query(question: Question, time: number): Promise<Reply | undefined> {
    const end = performance.now() + time
    let id = randomInt(65_536)
    while (this.#waiting.has(id)) id = randomInt(65_536)
    const message = questionMessage(id, question)
    const reply = await this.#exchange(id, message, time)
    if (reply?.isTruncated !== true) return reply
    const octets = await exchangeOverTcp(this.#endpoint, message, end - performance.now())
    const whole = octets && readReply(octets, message)
    return whole?.isTruncated === true ? undefined : whole
  }

  /** Sends a question over UDP, and returns the answer; undefined: none has come in time, or too many others have. */
  async #exchange(id: number, message: Buffer, time: number): Promise<Reply | undefined> {
    let timer: NodeJS.Timeout | undefined
    let left = MISFITS_MAX
    const answered = new Promise<Reply | undefined>((resolve) => {
      timer = setTimeout(resolve, time, undefined)
      this.#waiting.set(id, (octets) => {
        const reply = octets && octets.length <= UDP_PAYLOAD ? readReply(octets, message) : undefined
        if (octets === undefined || reply !== undefined || --left === 0) resolve(reply)
      })
    })
    try {
      await this.send(message)
      return await answered
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  /** Resolves when the message is sent. */
  async send(message: Buffer): Promise<void> {
    this.#socket ??= this.#open()
    const socket = await this.#socket
    await new Promise<void>((resolve, reject) => {
      socket.send(message, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }

  /** Opens a connected socket: the system passes on only messages from the nameserver, and reports an unused port. */
  async #open(): Promise<Socket> {
    const socket = createSocket(isIPv6(this.#endpoint.address) ? 'udp6' : 'udp4').unref()
    socket.on('message', (octets) => {
      // The message begins with its id.
      if (octets.length >= 2) this.#waiting.get(octets.readUInt16BE(0))?.(octets)
    })
    socket.on('error', () => {
      for (const resolve of this.#waiting.values()) resolve(undefined)
    })
    socket.connect(this.#endpoint.port, this.#endpoint.address)
    try {
      await once(socket, 'connect')
    } catch (error) {
      this.#socket = undefined
      socket.close()
      throw error
    }
    return socket
  }

  async close(): Promise<void> {
    const socket = await this.#socket?.catch(() => undefined)
    socket?.close()
  }
}

/** Parses an address, perhaps with a port: `192.0.2.1`, `192.0.2.1:5300`, `2001:db8::1`, `[2001:db8::1]:5300`. */
export function parseEndpoint(text: string, usual: number): Endpoint {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? []
  return { address: bracketed ?? plain ?? text, port: Number(port ?? usual) }
}

function servedBy({ rcode, isAuthoritative, answers }: Reply): Served {
  if (rcode !== 'NOERROR') return { problem: `answers ${rcode}` }
  const soa = answers.find(({ type }) => type === 'SOA')
  if (soa === undefined) return { problem: 'does not serve the zone' }
  if (!isAuthoritative) return { problem: 'is not authoritative for the zone' }
  return { serial: Number(soa.content) }
}
