import { setTimeout as sleep } from 'node:timers/promises'
import { NameserverFailure, reasonOf, type FailureKind } from '../errors.ts'
import { answerTime, COLLECTION_ITEMS } from '../limits.ts'
import { mapInSlices, stringify } from '../slices.ts'
import { Api, type ApiOptions } from './api.ts'
import type { Key, Lease, Nameserver, PublishedRRset, PublishedZone } from './nameserver.ts'
import { isNsec3Label, staleNsec3 } from './nsec3.ts'
import { OLD_SPELLING, SAMPLES, spell, standard } from './spelling.ts'
import { readTraits, type Traits } from './traits.ts'

export interface PowerDnsOptions extends ApiOptions {
  /** The SOA's primary name server: an absolute name. */
  primary: string
}

/** No salt, no extra iterations (RFC 9276 §3.1), and not narrow, so that the zone can be transferred. */
const NSEC3PARAM = '1 0 0 -'

/** PowerDNS leaves serials to us (`soa_edit_api`) and rectifies the zone after each change. */
const SETTINGS = { kind: 'Master', nsec3param: NSEC3PARAM, soa_edit_api: '', api_rectify: true }

/** Seconds. The last field is the TTL of DNSKEY; negative answers live for the smaller of the two (RFC 2308 §5). */
const SOA_TTL = 300
const SOA_TIMES = '86400 7200 3600000 3600'

/** Why a name may not be like an NSEC3 hash (contract §8.4). */
const NSEC3_LABEL =
  'A label of 32 characters 0-9 and a-v cannot stand directly below the name of a zone: the nameserver would take it ' +
  'for the NSEC3 hash of another name, and deny that name.'

/** How many times a deletion is tried. */
const DELETIONS = 5

/** How many times a probe is tried while other processes probe. */
const PROBES = 5

interface ZoneAnswer {
  serial: number
  /** The serial that resolvers see. */
  edited_serial: number
  dnssec: boolean
  nsec3param: string
  soa_edit_api: string
  api_rectify: boolean
  rrsets?: { name: string; type: string; ttl: number; records: { content: string }[] }[]
}

interface KeyAnswer {
  active: boolean
  published: boolean
  dnskey: string
  cds?: string[]
  flags: number
  keytype: string
}

/** PowerDNS Authoritative 4.7 or later, with one ECDSA key per zone and our serial in every change (powerdns.md §0). */
export class PowerDns implements Nameserver {
  readonly #api: Api
  readonly #primary: string
  #spelling = OLD_SPELLING
  #traits: Traits | undefined
  #problem: string | undefined = 'PowerDNS was not probed'

  constructor(options: PowerDnsOptions) {
    this.#api = new Api(options)
    this.#primary = options.primary
  }

  async createZone(zone: string, version: number, rrsets: PublishedRRset[], lease: Lease): Promise<void> {
    this.#requireProbe()
    const isOneRequest = rrsets.length <= COLLECTION_ITEMS
    const first = isOneRequest ? [this.#soa(zone, version), ...rrsets] : [this.#soa(zone, version - 1)]
    const settings = JSON.stringify({
      name: zone,
      dnssec: true,
      ...SETTINGS,
      api_rectify: isOneRequest,
      nameservers: [],
    })
    const body = `${settings.slice(0, -1)},"rrsets":${await this.#replacements(first)}}`
    const creation = this.#api.call('POST', '/zones?rrsets=false', answerTime(first.length), body, lease)
    // PowerDNS may have created part of a zone that it refuses (powerdns.md §2.3).
    await orHalfDone(creation, 'refused')
    if (!isOneRequest) await orHalfDone(this.#fill(zone, version, rrsets, lease), 'refused', 'absent', 'unreachable')
    await orHalfDone(this.#flush(zone), 'refused', 'absent', 'unreachable')
  }

  /** Fills a new zone in batches. PowerDNS does not serve a zone without SOA, so nobody sees an incomplete one. */
  async #fill(zone: string, version: number, rrsets: PublishedRRset[], lease: Lease): Promise<void> {
    await this.#patch(zone, [{ ...this.#soa(zone, version), records: [] }], false, lease)
    for (let from = 0; from < rrsets.length; from += COLLECTION_ITEMS) {
      await this.#patch(zone, rrsets.slice(from, from + COLLECTION_ITEMS), false, lease)
    }
    await this.setRectify(zone, true, lease)
    await this.#patch(zone, [this.#soa(zone, version)], false, lease)
  }

  async deleteZone(zone: string, lease: Lease): Promise<void> {
    this.#requireProbe()
    await this.#delete(zone, lease)
  }

  async #delete(zone: string, lease?: Lease): Promise<void> {
    // A deletion that failed in any way may be half done: only "absent" is certain.
    for (let left = DELETIONS; ; left--) {
      const deletion = this.#api.call('DELETE', path(zone), answerTime(0), undefined, lease)
      try {
        await (left === DELETIONS
          ? orHalfDone(deletion, 'refused', 'conflict')
          : orHalfDone(deletion, 'refused', 'conflict', 'unreachable'))
        break
      } catch (error) {
        const kind = error instanceof NameserverFailure ? error.kind : undefined
        if (kind === 'absent') break
        if (kind !== 'failed' || left === 1) throw error
        await sleep(50)
      }
    }
  }

  async publish(
    zone: string,
    version: number,
    rrsets: PublishedRRset[],
    rectify: boolean,
    lease: Lease,
  ): Promise<void> {
    this.#requireProbe()
    // PowerDNS applies the changes in order and checks each against those before it, so removals come first.
    const ordered = [...rrsets.filter(isRemoval), ...rrsets.filter((rrset) => !isRemoval(rrset))]
    let from = 0
    for (; ordered.length - from > COLLECTION_ITEMS; from += COLLECTION_ITEMS) {
      await this.#patch(zone, ordered.slice(from, from + COLLECTION_ITEMS), rectify, lease)
    }
    await this.#patch(zone, [...ordered.slice(from), this.#soa(zone, version)], rectify, lease)
  }

  async #patch(zone: string, rrsets: PublishedRRset[], rectify: boolean, lease: Lease): Promise<void> {
    const removed = rrsets.filter(isRemoval).map(({ name }) => name)
    const replacements = await this.#replacements(rrsets, rectify ? staleNsec3(zone, removed) : [])
    await this.#api.call('PATCH', path(zone), answerTime(rrsets.length), `{"rrsets":${replacements}}`, lease)
  }

  async setRectify(zone: string, rectify: boolean, lease: Lease): Promise<void> {
    this.#requireProbe()
    await this.#api.call('PUT', path(zone), answerTime(0), JSON.stringify({ api_rectify: rectify }), lease)
  }

  async configure(zone: string, lease: Lease): Promise<void> {
    this.#requireProbe()
    await this.#api.call('PUT', path(zone), answerTime(0), JSON.stringify(SETTINGS), lease)
  }

  async keys(zone: string): Promise<Key[]> {
    const answer = (await this.#api.call('GET', `${path(zone)}/cryptokeys`, answerTime(0))) as KeyAnswer[]
    return answer
      .filter((key) => key.active && key.published)
      .map(({ dnskey, cds = [], flags, keytype }) => ({ dnskey, ds: cds, flags, keytype }))
  }

  async serial(zone: string): Promise<number | undefined> {
    const answer = this.#api.call('GET', `${path(zone)}?rrsets=false`, answerTime(0)) as Promise<ZoneAnswer>
    return (await ifPresent(answer))?.serial
  }

  async servedSoa(zone: string, version: number): Promise<PublishedRRset> {
    const query = `rrset_name=${encodeURIComponent(zone)}&rrset_type=SOA`
    const answer = (await this.#api.call('GET', `${path(zone)}?${query}`, answerTime(0))) as ZoneAnswer
    const [rrset] = answer.rrsets ?? []
    if (rrset === undefined) throw new NameserverFailure('failed', 'the zone has no SOA')
    const records = rrset.records.map(({ content }) => {
      const [primary, mailbox, , ...times] = content.split(' ')
      return [primary, mailbox, version + answer.edited_serial - answer.serial, ...times].join(' ')
    })
    return { name: zone, type: 'SOA', ttl: rrset.ttl, records }
  }

  async read(zone: string): Promise<PublishedZone | undefined> {
    const size = 100_000
    const answer = await ifPresent(this.#api.call('GET', path(zone), answerTime(size)) as Promise<ZoneAnswer>)
    if (answer === undefined) return undefined
    const keys = await ifPresent(this.keys(zone))
    const rrsets = (answer.rrsets ?? []).map(({ name, type, ttl, records }) => {
      return { name, type, ttl, records: records.map(({ content }) => standard(type, content)) }
    })
    const hasSoa = rrsets.some(({ type }) => type === 'SOA')
    return {
      serial: hasSoa ? answer.serial : undefined,
      rectify: answer.api_rectify,
      // More than one key may be a key rollover by the operator; "incomplete" would delete the zone with its keys.
      complete: hasSoa && answer.dnssec && (keys ?? []).length > 0,
      configured: answer.nsec3param === NSEC3PARAM && answer.soa_edit_api === '',
      rrsets: rrsets.filter(({ type }) => type !== 'SOA'),
    }
  }

  async serials(): Promise<Map<string, number>> {
    const answer = await this.#api.call('GET', '/zones?dnssec=false', answerTime(100_000))
    return new Map((answer as { name: string; serial: number }[]).map(({ name, serial }) => [name, serial]))
  }

  async ready(): Promise<void> {
    this.#requireProbe()
    await this.#api.call('GET', '', 5_000)
  }

  async probe(): Promise<string[]> {
    try {
      // First, because it changes nothing: a PowerDNS that fails gets no scratch zone.
      this.#traits = await readTraits(this.#api)
      const [keepsEscapes, exactAngles, namesMore] = await Promise.all([
        this.#accepts(SAMPLES.keepsEscapes),
        this.#accepts(SAMPLES.exactAngles),
        this.#accepts(SAMPLES.namesMore),
      ])
      this.#spelling = { keepsEscapes, exactAngles, namesMore }
      this.#problem = undefined
      return this.#traits.warnings
    } catch (error) {
      this.#problem = reasonOf(error)
      throw error
    }
  }

  get problem(): string | undefined {
    return this.#problem
  }

  /** @throws NameserverFailure of the kind "unreachable" until a probe has succeeded */
  #requireProbe(): void {
    if (this.#problem !== undefined) throw new NameserverFailure('unreachable', this.#problem)
  }

  get alwaysRectify(): boolean {
    return this.#traits?.forgetsOrder === true
  }

  labelProblem(label: string): string | undefined {
    if (!isNsec3Label(label)) return undefined
    this.#requireProbe()
    return this.#traits?.confusesHashes === true ? NSEC3_LABEL : undefined
  }

  /** Whether PowerDNS accepts this content, as it is, in a scratch zone. */
  async #accepts([type, content]: [type: string, content: string]): Promise<boolean> {
    // The same name in all processes, so that each probe deletes what an earlier one has left that did not end.
    const zone = `probe-${type.toLowerCase()}.zoneplane.invalid.`
    const soa = this.#soa(zone, 1)
    const rrsets = [soa, { ...soa, type, records: [content] }].map(({ records, ...rrset }) => ({
      ...rrset,
      records: records.map((text) => ({ content: text, disabled: false })),
    }))
    const body = JSON.stringify({ name: zone, kind: 'Native', nameservers: [], rrsets })
    for (let left = PROBES; ; left--) {
      await this.#delete(zone)
      try {
        await this.#api.call('POST', '/zones?rrsets=false', answerTime(0), body)
        await this.#delete(zone)
        return true
      } catch (error) {
        if (!(error instanceof NameserverFailure)) throw error
        if (error.kind === 'refused') return false
        // Another process probes at the same time.
        if (error.kind !== 'conflict' || left === 1) throw error
      }
    }
  }

  async close(): Promise<void> {
    await this.#api.close()
  }

  /**
   * Flushes the zone's names from the caches. Otherwise queries for names that were asked before the zone existed are
   * still refused until the packet cache expires (powerdns.md §1.4).
   */
  async #flush(zone: string): Promise<void> {
    await this.#api.call('PUT', `/cache/flush?domain=${encodeURIComponent(zone)}`, answerTime(0))
  }

  #soa(zone: string, version: number): PublishedRRset {
    const content = `${this.#primary} hostmaster.${zone} ${version} ${SOA_TIMES}`
    return { name: zone, type: 'SOA', ttl: SOA_TTL, records: [content] }
  }

  /**
   * Changes as JSON: always the complete new state of an RRset, so repeating them is harmless. PowerDNS wants a TTL for
   * removals, too.
   */
  async #replacements(rrsets: PublishedRRset[], others: object[] = []): Promise<string> {
    const replacements = await mapInSlices(rrsets, ({ name, type, ttl, records: contents }) => {
      const records = contents.map((content) => ({ content: spell(type, content, this.#spelling), disabled: false }))
      return { name, type, ttl, changetype: 'REPLACE', records }
    })
    return stringify([...replacements, ...others])
  }
}

function isRemoval({ records }: PublishedRRset): boolean {
  return records.length === 0
}

/** PowerDNS' zone id; our zone names contain neither `/` nor `=`. */
function path(zone: string): string {
  return `/zones/${zone.replaceAll('_', '=5F')}`
}

/** Turns failures of these kinds into "failed", because part of the request may have been applied. */
async function orHalfDone<T>(answer: Promise<T>, ...kinds: FailureKind[]): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof NameserverFailure) || !kinds.includes(error.kind)) throw error
    throw new NameserverFailure('failed', error.message, { cause: error })
  }
}

/** The answer, or undefined if the zone is absent. */
async function ifPresent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NameserverFailure && error.kind === 'absent') return undefined
    throw error
  }
}
