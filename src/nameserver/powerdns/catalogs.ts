import { absolute, withoutDot } from '../../dns/names.ts'
import { answerTime } from '../../limits.ts'
import type { Catalog, Catalogs, TransferKey } from '../nameserver.ts'
import { type Api, flush, getZone, ifPresent, type ZoneAnswer, zonePath } from './api.ts'
import { idOf } from './transfers.ts'

/**
 * Settings for our own serials, also at the secondaries, and for changes whose time does not grow with the zone.
 * PowerDNS' own catalogs have members without labels that change, and serials that can move backwards.
 */
const SETTINGS = { kind: 'Master', dnssec: false, soa_edit_api: '', soa_edit: 'NONE', api_rectify: false }

/** Consumers ask for the serial every minute, in case a NOTIFY gets lost; they never let the zone expire. */
const SOA_TIMES = '60 60 2147483646 0'

/** The catalog zones at PowerDNS. */
export class PowerDnsCatalogs implements Catalogs {
  readonly #api: Api
  readonly #settings: Record<string, unknown>

  constructor(api: Api, transferKey: TransferKey | undefined) {
    this.#api = api
    this.#settings = transferKey === undefined ? SETTINGS : { ...SETTINGS, master_tsig_key_ids: [idOf(transferKey)] }
  }

  async read(catalog: string): Promise<Catalog | undefined> {
    const zone = await ifPresent(getZone(this.#api, absolute(catalog)))
    if (zone === undefined) return undefined
    const { rrsets } = zone
    const isSame = (name: string) => {
      const [wanted, live] = [this.#settings[name], zone[name as keyof ZoneAnswer]]
      return live === undefined || JSON.stringify(live) === JSON.stringify(wanted)
    }
    const has = (own: RRset) =>
      rrsets.some(
        ({ name, type, records }) => name === own.name && type === own.type && records[0]?.content === own.content,
      )
    const [soa, ...others] = base(catalog, 0)
    const suffix = `.zones.${catalog}.`
    const members = rrsets
      .filter(({ name, type }) => type === 'PTR' && name.endsWith(suffix))
      .map(({ name, records }) => [name.slice(0, -suffix.length), withoutDot(records[0]!.content)] as const)
    const isComplete = rrsets.some(({ name, type }) => name === soa!.name && type === soa!.type) && others.every(has)
    return {
      serial: zone.serial,
      members: new Map(members),
      sound: isComplete && Object.keys(this.#settings).every(isSame),
    }
  }

  async publish(
    catalog: string,
    live: Pick<Catalog, 'sound'> | undefined,
    serial: number,
    added: Map<string, string>,
    removed: string[],
  ): Promise<void> {
    if (live === undefined) return this.#create(catalog, serial, added)
    if (!live.sound)
      await this.#api.call('PUT', zonePath(absolute(catalog)), answerTime(0), JSON.stringify(this.#settings))
    const gone = removed.map((label) => ({ ...asJson(pointer(catalog, label, '')), records: [] }))
    const rrsets = [...gone, ...[...pointers(catalog, added), ...base(catalog, serial)].map(asJson)]
    const body = JSON.stringify({ rrsets })
    await this.#api.call('PATCH', zonePath(absolute(catalog)), answerTime(rrsets.length), body)
  }

  async #create(catalog: string, serial: number, members: Map<string, string>): Promise<void> {
    const rrsets = [...base(catalog, serial), ...pointers(catalog, members)].map(asJson)
    const body = JSON.stringify({ name: absolute(catalog), nameservers: [], ...this.#settings, rrsets })
    await this.#api.call('POST', '/zones?rrsets=false', answerTime(rrsets.length), body)
    await flush(this.#api, absolute(catalog))
  }

  async remove(catalog: string): Promise<void> {
    await this.#api.call('DELETE', zonePath(absolute(catalog)), answerTime(0))
  }
}

/** An RRset with one record. */
interface RRset {
  name: string
  type: string
  content: string
}

/** Returns the RRsets of every catalog zone, its SOA first (RFC 9432 §§4.1, 4.2.1). */
function base(catalog: string, serial: number): RRset[] {
  return [
    { name: absolute(catalog), type: 'SOA', content: `invalid. invalid. ${serial} ${SOA_TIMES}` },
    { name: absolute(catalog), type: 'NS', content: 'invalid.' },
    { name: `version.${catalog}.`, type: 'TXT', content: '"2"' },
  ]
}

/** Returns the members (RFC 9432 §4.1). */
function pointers(catalog: string, members: Map<string, string>): RRset[] {
  return [...members].map(([label, zone]) => pointer(catalog, label, zone))
}

function pointer(catalog: string, label: string, zone: string): RRset {
  return { name: `${label}.zones.${catalog}.`, type: 'PTR', content: absolute(zone) }
}

function asJson({ name, type, content }: RRset): object {
  return { name, type, ttl: 0, changetype: 'REPLACE', records: [{ content, disabled: false }] }
}
