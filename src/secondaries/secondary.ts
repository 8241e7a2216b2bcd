import packet, { type DecodedPacket } from 'dns-packet'
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible'
import { Busy } from '../errors.ts'
import { SECONDARY_ANSWER_TIME, SECONDARY_QUESTIONS, SECONDARY_QUESTIONS_WAITING } from '../limits.ts'
import { notifyMessage } from './notifier.ts'

/** The address of a secondary, and the name that status answers give it. */
export interface Target {
  name: string
  address: string
  port: number
}

/** What a secondary answers about a zone; without a serial, `problem` says what it answers instead. */
export type Served =
  | { serial: number; problem?: undefined }
  | { serial?: undefined; problem: string }
  /** It has not answered. */
  | undefined

/** A nameserver that transfers our zones. It is asked and told over UDP; sockets are opened when they are needed. */
export class Secondary {
  readonly name: string
  readonly #target: Target
  #socket: Promise<Socket> | undefined
  /** Who waits for an answer, by the question's id. */
  readonly #waiting = new Map<number, (answer: DecodedPacket | undefined) => void>()
  // NSD drops questions beyond 200 a second.
  readonly #pace = new RateLimiterQueue(new RateLimiterMemory({ points: SECONDARY_QUESTIONS, duration: 1 }), {
    maxQueueSize: SECONDARY_QUESTIONS_WAITING,
  })

  constructor(target: Target) {
    this.name = target.name
    this.#target = target
  }

  /** Tells it that the zone has changed (RFC 1996). Its acknowledgement would prove nothing, so nobody waits for it. */
  async notify(zone: string): Promise<void> {
    await this.#send(notifyMessage(zone)).catch(() => undefined)
  }

  /** Asks for the zone's SOA, twice if need be. @throws Busy */
  async serves(zone: string): Promise<Served> {
    for (let left = 2; left > 0; left--) {
      await this.#pace.removeTokens(1).catch(() => {
        throw new Busy(`Too many questions wait for ${this.name}.`)
      })
      const answer = await this.#exchange(zone)
      if (answer !== undefined) return servedBy(answer)
    }
    return undefined
  }

  /** The answer to one question; undefined if there is none in time. */
  async #exchange(zone: string): Promise<DecodedPacket | undefined> {
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
    const { promise, resolve } = withResolvers<DecodedPacket | undefined>()
    const timer = setTimeout(resolve, SECONDARY_ANSWER_TIME, undefined)
    this.#waiting.set(id, (answer) => {
      const [asked] = answer?.questions ?? []
      if (answer === undefined || (asked?.name.toLowerCase() === zone && asked.type === 'SOA')) resolve(answer)
    })
    try {
      await this.#send(question)
      return await promise
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  async #send(message: Buffer): Promise<void> {
    this.#socket ??= this.#open()
    const socket = await this.#socket
    await new Promise<void>((resolve, reject) => {
      socket.send(message, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }

  /** A connected socket: the system passes on only what comes from the secondary, and tells if nobody listens there. */
  async #open(): Promise<Socket> {
    const socket = createSocket(isIPv6(this.#target.address) ? 'udp6' : 'udp4')
    socket.on('message', (octets) => {
      const answer = decoded(octets)
      if (answer?.type === 'response' && answer.id !== undefined) this.#waiting.get(answer.id)?.(answer)
    })
    socket.on('error', () => {
      for (const resolve of this.#waiting.values()) resolve(undefined)
    })
    socket.connect(this.#target.port, this.#target.address)
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

/** Promise.withResolvers, which Node 20 lacks. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}
