import { randomInt } from 'node:crypto'
import { NameserverFailure } from '../errors.ts'
import { answerTime, DNS_ANSWER_TIME } from '../limits.ts'
import { currentTime } from '../time.ts'
import { DnsClient, type Endpoint } from '../wire/client.ts'
import type { Api } from './api.ts'
import type { PublishedRRset } from './nameserver.ts'
import { servedSerial } from './served-serial.ts'

/** How many times a probe is tried while other processes probe. */
const PROBES = 5

/** What the driver does with any zone. */
interface Driver {
  soa(zone: string, serial: number): PublishedRRset
  serial(zone: string): Promise<number | undefined>
  remove(zone: string): Promise<void>
}

/** Zones that exist only while PowerDNS is probed. */
export class ScratchZones {
  readonly #api: Api
  readonly #driver: Driver

  constructor(api: Api, driver: Driver) {
    this.#api = api
    this.#driver = driver
  }

  /** Whether PowerDNS accepts this content, as it is. @throws NameserverFailure */
  async accepts([type, content]: [type: string, content: string]): Promise<boolean> {
    try {
      return await this.#inZone(type.toLowerCase(), 1, [{ type, content }], () => Promise.resolve(true))
    } catch (error) {
      if (error instanceof NameserverFailure && error.kind === 'refused') return false
      throw error
    }
  }

  /**
   * The endpoint of these at which this PowerDNS, and nobody else, answers queries: there a zone is served with the serial
   * that it has just got. @throws NameserverFailure
   */
  async servedAt(endpoints: Endpoint[]): Promise<DnsClient | undefined> {
    for (let left = PROBES; left > 0 && endpoints.length > 0; left--) {
      const serial = randomInt(1, 2 ** 31)
      const { client, isOurs } = await this.#inZone('dns', serial, [], async (zone) => ({
        client: await firstThatServes(endpoints, zone, servedSerial(serial, currentTime())),
        isOurs: (await this.#driver.serial(zone)) === serial,
      }))
      // Another process that probes at the same time may have deleted the zone before the question.
      if (client !== undefined || isOurs) return client
    }
    return undefined
  }

  /** Runs `work` while PowerDNS has a zone of this serial, with these records at its apex. */
  async #inZone<T>(
    purpose: string,
    serial: number,
    records: { type: string; content: string }[],
    work: (zone: string) => Promise<T>,
  ): Promise<T> {
    // The same name in all processes, so that each probe deletes what an earlier one has left that did not end.
    const zone = `probe-${purpose}.zoneplane.invalid.`
    const soa = this.#driver.soa(zone, serial)
    const rrsets = [soa, ...records.map(({ type, content }) => ({ ...soa, type, records: [content] }))].map(
      (rrset) => ({ ...rrset, records: rrset.records.map((content) => ({ content, disabled: false })) }),
    )
    const body = JSON.stringify({ name: zone, kind: 'Native', nameservers: [], soa_edit_api: '', rrsets })
    for (let left = PROBES; ; left--) {
      await this.#driver.remove(zone)
      try {
        await this.#api.call('POST', '/zones?rrsets=false', answerTime(0), body)
        break
      } catch (error) {
        if (!(error instanceof NameserverFailure)) throw error
        // Another process probes at the same time.
        if (error.kind !== 'conflict' || left === 1) throw error
      }
    }
    const result = await work(zone)
    await this.#driver.remove(zone)
    return result
  }
}

/** The first of these that serves the zone with this serial; undefined: none does. @param zone absolute */
async function firstThatServes(endpoints: Endpoint[], zone: string, serial: number): Promise<DnsClient | undefined> {
  const clients = endpoints.map((endpoint) => new DnsClient(endpoint))
  const served = await Promise.all(clients.map((client) => client.ask(zone.slice(0, -1), DNS_ANSWER_TIME)))
  const first = clients.find((_, i) => served[i]?.serial === serial)
  await Promise.all(clients.filter((client) => client !== first).map((client) => client.close()))
  return first
}
