import packet, { type DecodedPacket } from 'dns-packet'
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

/** NOTIFY (RFC 1996 §3.3), with the flag AA (§3.7). */
const NOTIFY = (4 << 11) | packet.AUTHORITATIVE_ANSWER

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

/** A client that asks a nameserver for SOA records, and sends it messages, over UDP. Its socket is opened on demand. */
export class DnsClient {
  readonly #endpoint: Endpoint
  #socket: Promise<Socket> | undefined
  /** The callbacks that wait for an answer, by the question's id. */
  readonly #waiting = new Map<number, (answer: DecodedPacket | undefined) => void>()

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
  }

  /**
   * Asks once for a zone's SOA. Never rejects.
   * @param zone without final dot
   * @param time milliseconds in which the answer must come
   */
  async ask(zone: string, time: number): Promise<Served> {
    let id = randomInt(65_536)
    while (this.#waiting.has(id)) id = randomInt(65_536)
    const question = packet.encode({
      type: 'query',
      id,
      questions: [{ name: zone, type: 'SOA' }],
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: 1232,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ],
    })
    let timer: NodeJS.Timeout | undefined
    const answered = new Promise<DecodedPacket | undefined>((resolve) => {
      timer = setTimeout(resolve, time, undefined)
      this.#waiting.set(id, (answer) => {
        const [asked] = answer?.questions ?? []
        if (answer === undefined || (asked?.name.toLowerCase() === zone && asked.type === 'SOA')) resolve(answer)
      })
    })
    try {
      await this.send(question)
      const answer = await answered
      return answer && servedBy(answer)
    } catch {
      return undefined
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
      const answer = decoded(octets)
      if (answer?.type === 'response' && answer.id !== undefined) this.#waiting.get(answer.id)?.(answer)
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

/** Returns a NOTIFY for a zone: a name without final dot. */
export function notifyMessage(zone: string): Buffer {
  return packet.encode({
    type: 'query',
    id: randomInt(65_536),
    flags: NOTIFY,
    questions: [{ name: zone, type: 'SOA' }],
  })
}

function decoded(octets: Buffer): DecodedPacket | undefined {
  try {
    return packet.decode(octets)
  } catch {
    return undefined
  }
}

function servedBy({ rcode, flag_aa: isAuthoritative, answers = [] }: DecodedPacket & { rcode?: string }): Served {
  if (rcode !== 'NOERROR') return { problem: `answers ${rcode ?? 'an error'}` }
  const soa = answers.find(({ type }) => type === 'SOA')
  if (soa?.type !== 'SOA') return { problem: 'does not serve the zone' }
  if (!isAuthoritative) return { problem: 'is not authoritative for the zone' }
  return { serial: soa.data.serial ?? 0 }
}
