import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { notifyMessage, type Served } from '../wire/client.ts'
import { Secondary, type Target } from './secondary.ts'

/** Where servers that users have named listen. */
const PORT = 53

/** Milliseconds after each NOTIFY, until a secondary is asked whether it serves the zone, and else is told again. */
export const NOTIFY_PAUSES = [1_000, 3_000, 10_000, 30_000]

/** Whoever wants to know whether a secondary, by its name, serves a zone's serial. */
type Observer = (secondary: string, answer: 'current' | 'behind' | 'none') => void

/** The nameservers that transfer our zones, which are told of changes. Zones are names without final dot. */
export class Secondaries {
  readonly all: readonly Secondary[]
  readonly #observe: Observer
  /** For what is sent to servers that users have named. */
  readonly #sockets = { udp4: newSocket('udp4'), udp6: newSocket('udp6') }
  /** What is being told, by secondary and zone, or by zone for servers that users have named; abort to end it. */
  readonly #telling = new Map<string, AbortController>()

  /** @param observe gets to know what each secondary answers to `remind` */
  constructor(targets: readonly Target[], observe: Observer) {
    this.#observe = observe
    this.all = targets.map((target) => new Secondary(target))
  }

  /**
   * Tells all that the zone has a new serial: at once, and again after each of NOTIFY_PAUSES to those that do not serve it
   * yet, because NOTIFY may get lost. A newer serial takes the place of an older one.
   * @param others the addresses of servers that the zone's account has named. Nobody knows what they are, so they are asked
   *   nothing, and told each time
   */
  announce(zone: string, serial: number, others: readonly string[]): void {
    for (const secondary of this.all) {
      const isCurrent = async () => reaches(await secondary.serves(zone), serial)
      this.#tell(`${secondary.name} ${zone}`, () => secondary.notify(zone), isCurrent)
    }
    this.#telling.get(zone)?.abort()
    if (others.length > 0) this.#tell(zone, () => this.#notify(zone, others))
  }

  /** Takes the place of what is being told under this key. */
  #tell(key: string, notify: () => Promise<void>, isCurrent?: () => Promise<boolean>): void {
    this.#telling.get(key)?.abort()
    const ending = new AbortController()
    this.#telling.set(key, ending)
    void tell(notify, isCurrent, ending.signal).finally(() => {
      if (this.#telling.get(key) === ending) this.#telling.delete(key)
    })
  }

  async #notify(zone: string, addresses: readonly string[]): Promise<void> {
    const { udp4, udp6 } = this.#sockets
    const send = (address: string) =>
      new Promise((sent) => {
        const socket = isIPv6(address) ? udp6 : udp4
        socket.send(notifyMessage(zone), PORT, address, sent)
      })
    // What cannot be sent is lost, as what does not arrive.
    await Promise.all(addresses.map(send))
  }

  /** Tells those again that serve the zone with a lower serial, or do not serve it. @throws Busy */
  async remind(zone: string, serial: number): Promise<void> {
    await Promise.all(
      this.all.map(async (secondary) => {
        const served = await secondary.serves(zone)
        const answer = served === undefined ? 'none' : reaches(served, serial) ? 'current' : 'behind'
        this.#observe(secondary.name, answer)
        if (answer === 'behind') await secondary.notify(zone)
      }),
    )
  }

  async close(): Promise<void> {
    for (const ending of this.#telling.values()) ending.abort()
    for (const socket of Object.values(this.#sockets)) socket.close()
    await Promise.all(this.all.map((secondary) => secondary.close()))
  }
}

/** Never rejects. */
async function tell(
  notify: () => Promise<void>,
  isCurrent: (() => Promise<boolean>) | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const pause of NOTIFY_PAUSES) {
      await notify()
      await sleep(pause, undefined, { signal, ref: false })
      if ((await isCurrent?.()) === true) return
    }
  } catch {
    // A newer serial is announced, or too many questions wait. The sweep tells those that stay behind.
  }
}

function newSocket(family: 'udp4' | 'udp6'): Socket {
  return createSocket(family)
    .unref()
    .on('error', () => undefined)
}

function reaches(served: Served, serial: number): boolean {
  return served?.serial !== undefined && served.serial >= serial
}
