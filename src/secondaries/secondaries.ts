import { setTimeout as sleep } from 'node:timers/promises'
import { NOTIFY_PAUSES } from '../limits.ts'
import type { Served } from '../wire/client.ts'
import { Notifier } from './notifier.ts'
import { Secondary, type Target } from './secondary.ts'

/** Whoever wants to know whether a secondary, by its name, serves a zone's serial. */
type Observer = (secondary: string, answer: 'current' | 'behind' | 'none') => void

/** The nameservers that transfer our zones, which are told of changes. Zones are names without final dot. */
export class Secondaries {
  readonly all: readonly Secondary[]
  readonly #observe: Observer
  readonly #notifier = new Notifier()
  /** Who is being told of what: for each secondary and zone, how to end that. */
  readonly #telling = new Map<string, AbortController>()

  /** @param observe gets to know what each secondary answers to `remind` */
  constructor(targets: readonly Target[], observe: Observer) {
    this.#observe = observe
    this.all = targets.map((target) => new Secondary(target))
  }

  /**
   * Tells all that the zone has a new serial: at once, and again after each of NOTIFY_PAUSES to those that do not serve it
   * yet, because NOTIFY may get lost. A newer serial takes the place of an older one.
   * @param others the addresses of servers that the zone's account has named, which are told, too
   */
  announce(zone: string, serial: number, others: readonly string[]): void {
    this.#notifier.tell(zone, others)
    for (const secondary of this.all) {
      const key = `${secondary.name} ${zone}`
      this.#telling.get(key)?.abort()
      const ending = new AbortController()
      this.#telling.set(key, ending)
      void tell(secondary, zone, serial, ending.signal).finally(() => {
        if (this.#telling.get(key) === ending) this.#telling.delete(key)
      })
    }
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
    this.#notifier.close()
    await Promise.all(this.all.map((secondary) => secondary.close()))
  }
}

/** Never rejects. */
async function tell(secondary: Secondary, zone: string, serial: number, signal: AbortSignal): Promise<void> {
  try {
    for (const pause of NOTIFY_PAUSES) {
      await secondary.notify(zone)
      await sleep(pause, undefined, { signal, ref: false })
      if (reaches(await secondary.serves(zone), serial)) return
    }
  } catch {
    // A newer serial is announced, or too many questions wait. The sweep tells those that stay behind.
  }
}

function reaches(served: Served, serial: number): boolean {
  return served?.serial !== undefined && served.serial >= serial
}
