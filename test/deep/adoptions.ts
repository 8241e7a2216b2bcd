import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/log.ts'
import { createSystem, requireNameserver } from '../../src/process/create-system.ts'
import { adopt } from '../../src/service/adoption/adoption.ts'
import { readConfig } from '../../src/settings/config.ts'
import { find } from '../../src/store/primaries.ts'
import { REQUEST } from '../served/checks/adoption.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import type { TestPair } from '../support/harness.ts'
import { environmentFor } from '../support/servers/service.ts'
import { makeForeignZone } from '../support/state/behind-our-back.ts'
import type { Span } from './history.ts'

/** A zone that somebody else has made at the active one of two PowerDNS, and what became of it. */
interface Adopted {
  name: string
  /** What PowerDNS answered before. */
  dnskeys: string[]
  isAdopted: boolean
}

/** Adopts zones of two PowerDNS, one after the other, while the active one changes. */
export class Adoptions {
  readonly #pair: TestPair
  readonly #prefix: string
  readonly #zones: Adopted[] = []
  /** When a command adopted a zone. */
  readonly spans: Span[] = []

  constructor(pair: TestPair, prefix: string) {
    this.#pair = pair
    this.#prefix = prefix
  }

  /** Makes zones, and adopts each, until told to stop. */
  async goOn(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const zone = await this.#make()
      if (zone !== undefined) await this.#adopt(zone)
      await sleep(100)
    }
  }

  /** What is wrong with the adopted zones, when all is repaired. A zone that only the former one has stays what it was. */
  async problems(): Promise<string[]> {
    const found: string[] = []
    for (const { name, dnskeys } of this.adopted) {
      for (const { powerDns, name: primary } of this.#pair.primaries) {
        const [www, keys] = [await lookUp(powerDns, `www.${name}`, 'A'), await lookUp(powerDns, name, 'DNSKEY')]
        if (www.join() !== '192.0.2.1') found.push(`www.${name} is ${www.join()} at ${primary}`)
        if (keys.join() !== dnskeys.join())
          found.push(`${name} has the keys ${keys.join()} at ${primary}, not ${dnskeys.join()}`)
      }
    }
    return found
  }

  get adopted(): Adopted[] {
    return this.#zones.filter(({ isAdopted }) => isAdopted)
  }

  /** The zones that are not adopted. */
  get foreign(): string[] {
    return this.#zones.filter(({ isAdopted }) => !isAdopted).map(({ name }) => name)
  }

  /** Makes a zone at the active one; undefined if it does not answer. */
  async #make(): Promise<Adopted | undefined> {
    const active = await eventually(() => find(this.#pair.system.db).catch(() => undefined))
    const primary = this.#pair.primaries.find(({ name }) => name === active!.name)!
    const name = `${this.#prefix}-${this.#zones.length}.example`
    const made: Adopted = { name, dnskeys: [], isAdopted: false }
    // Even if there is no answer, the zone may be there.
    this.#zones.push(made)
    try {
      await makeForeignZone(primary, name)
      made.dnskeys = await lookUp(primary.powerDns, name, 'DNSKEY')
      return made.dnskeys.length > 0 ? made : undefined
    } catch {
      return undefined
    }
  }

  /** Adopts it as a command does, and again if it fails, unless the active one has no such zone. */
  async #adopt(zone: Adopted): Promise<void> {
    const { backends, owner, system } = this.#pair
    const email = await emailOf(system, owner.id)
    for (let left = 20; left > 0; left--) {
      const span = { from: performance.now(), to: Infinity }
      const log = createLog('error', new PassThrough().resume())
      const command = createSystem(readConfig(environmentFor(backends)), backends, log)
      const one = async () => {
        await requireNameserver(command)
        return adopt(command, zone.name, { ...REQUEST, apply: true, ownerOf: () => email })
      }
      // Postgres or PowerDNS is away, or another one has become the active one.
      const outcome = await one().catch(() => undefined)
      span.to = performance.now()
      this.spans.push(span)
      await command[Symbol.asyncDispose]()
      if (outcome !== undefined) {
        const { adopted, obstacles } = outcome
        // A commit whose outcome is unknown may have succeeded.
        zone.isAdopted = adopted || obstacles.includes('it is a domain already')
        if (zone.isAdopted || obstacles.includes('PowerDNS has no such zone')) return
        throw new Error(`${zone.name}: ${obstacles.join()}`)
      }
      await sleep(200)
    }
  }
}
