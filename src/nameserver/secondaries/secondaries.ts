import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Served } from '../wire/client.ts'
import { notifyMessage } from '../wire/messages.ts'
import { Secondary, type Target } from './secondary.ts'

/** The port of servers that users have named. */
const PORT = 53

/** Milliseconds between a NOTIFY and the question whether the secondary serves the zone; if not, the next follows. */
export const NOTIFY_PAUSES = [1_000, 3_000, 10_000, 30_000]

/** The observer of the answers of secondaries, by their names, about a zone's serial. */
type Observer = (secondary: string, answer: 'current' | 'behind' | 'none') => void

/** The nameservers that transfer our zones and receive NOTIFY. Zones are names without final dot. */
export class Secondaries {
  readonly all: readonly Secondary[]
  readonly #observe: Observer
  /** The sockets for messages to servers that users have named. */
  readonly #sockets = { udp4: newSocket('udp4'), udp6: newSocket('udp6') }
  /** The announcements in flight, by secondary and zone, or by zone for servers named by users; abort to end one. */
  readonly #telling = new Map<string, AbortController>()

  /** @param observe gets the answer of each secondary to `remind` */
  constructor(targets: readonly Target[], observe: Observer) {
    this.#observe = observe
    this.all = targets.map((target) => new Secondary(target))
  }

  /**
   * Sends NOTIFY for a zone's new serial to all: at once, and again after each of NOTIFY_PAUSES but the last to those
   * that do not serve it yet, because NOTIFY may get lost. A newer serial takes the place of an older one.
   * @param others the addresses of servers that the zone's account has named. Their nature is unknown, so they are
   *   asked nothing, and get every NOTIFY
   */
  announce(zone: string, serial: number, others: readonly string[]): void {
    for (const secondary of this.all) {
      const isCurrent = async () => reaches(await secondary.serves(zone), serial)
      void this.#tell(`${secondary.name} ${zone}`, () => secondary.notify(zone), isCurrent)
    }
    this.#telling.get(zone)?.abort()
    if (others.length > 0) void this.#tell(zone, () => this.#notify(zone, others))
  }

  /** Repeats a NOTIFY until the zone is current, in place of the announcement in flight under this key; never rejects. */
  async #tell(key: string, notify: () => Promise<void>, isCurrent?: () => Promise<boolean>): Promise<void> {
    this.#telling.get(key)?.abort()
    const ending = new AbortController()
    this.#telling.set(key, ending)
    try {
      for (const pause of NOTIFY_PAUSES) {
        await notify()
        await sleep(pause, undefined, { signal: ending.signal, ref: false })
        if ((await isCurrent?.()) === true) return
      }
    } catch {
      // A newer serial is announced, or too many questions wait. The sweep notifies those that have not caught up.
    } finally {
      if (this.#telling.get(key) === ending) this.#telling.delete(key)
    }
  }

  async #notify(zone: string, addresses: readonly string[]): Promise<void> {
    const { udp4, udp6 } = this.#sockets
    const send = (address: string) =>
      new Promise((sent) => {
        const socket = isIPv6(address) ? udp6 : udp4
        socket.send(notifyMessage(zone), PORT, address, sent)
      })
    // A message that cannot be sent is lost, like one that does not arrive.
    await Promise.all(addresses.map(send))
  }

  /** Sends NOTIFY to the secondaries that answer with a lower serial, or without the zone. @throws Busy */
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

function newSocket(family: 'udp4' | 'udp6'): Socket {
  return createSocket(family)
    .unref()
    .on('error', () => undefined)
}

function reaches(served: Served, serial: number): boolean {
  return served?.serial !== undefined && served.serial >= serial
}
