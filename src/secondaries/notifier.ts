import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { NOTIFY_PAUSES } from '../limits.ts'
import { notifyMessage } from '../wire/notify.ts'

const PORT = 53

/**
 * Tells servers that users have named. Nobody knows what they are, so they are asked nothing: each gets as many messages as
 * NOTIFY_PAUSES has numbers.
 */
export class Notifier {
  readonly #sockets = new Map<'udp4' | 'udp6', Socket>()
  /** How to end the telling, by zone. */
  readonly #telling = new Map<string, AbortController>()

  /** Tells that the zone has changed, instead of what it tells of the zone now. */
  tell(zone: string, addresses: readonly string[]): void {
    this.#telling.get(zone)?.abort()
    this.#telling.delete(zone)
    if (addresses.length === 0) return
    const ending = new AbortController()
    this.#telling.set(zone, ending)
    void this.#tell(zone, addresses, ending.signal).finally(() => {
      if (this.#telling.get(zone) === ending) this.#telling.delete(zone)
    })
  }

  /** Never rejects. */
  async #tell(zone: string, addresses: readonly string[], signal: AbortSignal): Promise<void> {
    try {
      for (const pause of NOTIFY_PAUSES) {
        for (const address of addresses) {
          // What is not sent is lost, as what does not arrive.
          this.#socketFor(address).send(notifyMessage(zone), PORT, address, () => undefined)
        }
        await sleep(pause, undefined, { signal, ref: false })
      }
    } catch {
      // The zone has changed again, or the process stops.
    }
  }

  #socketFor(address: string): Socket {
    const family = isIPv6(address) ? 'udp6' : 'udp4'
    let socket = this.#sockets.get(family)
    if (socket === undefined) {
      socket = createSocket(family).unref()
      socket.on('error', () => undefined)
      this.#sockets.set(family, socket)
    }
    return socket
  }

  close(): void {
    for (const ending of this.#telling.values()) ending.abort()
    for (const socket of this.#sockets.values()) socket.close()
  }
}
