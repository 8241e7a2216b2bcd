import { setTimeout as sleep } from 'node:timers/promises'
import { NameserverFailure, reasonOf, type FailureKind } from '../../errors.ts'
import { answerTime, COLLECTION_ITEMS, DNS_ANSWER_TIME } from '../../limits.ts'
import { mapInSlices, stringify } from '../../flow/slices.ts'
import { currentTime } from '../../time.ts'
import type { DnsClient } from '../wire/client.ts'
import { Api, ifPresent, zonePath as path, type ApiOptions, type Load } from './api.ts'
import { PowerDnsCatalogs } from './catalogs.ts'
import { exportKeys, importKey, listKeys, publicKeys, signingKeys, stateOf } from './cryptokeys.ts'
import { NSEC } from '../nameserver.ts'
import type {
  Denial,
  FoundZone,
  Key,
  KeyState,
  Lease,
  Nameserver,
  NewZone,
  PreparedUpdate,
  PublishedRRset,
  PublishedZone,
  SigningKey,
  TransferKey,
  Transfers,
  ZoneUpdate,
} from '../nameserver.ts'
import { denialOf, isNsec3Label, NARROW, staleNsec3 } from './nsec3.ts'
import { clientAt } from './own-dns.ts'
import { servedSerial } from './served-serial.ts'
import { spell, standard } from './spelling.ts'
import { survey } from './survey.ts'
import { readTraits, type Traits } from './traits.ts'
import { allow, areSet, ensureKey, idOf, removeKey } from './transfers.ts'

export interface PowerDnsOptions extends ApiOptions {
  /** The SOA's primary name server: an absolute name. */
  primary: string
  /** The TSIG key with which every zone may be transferred; undefined: who may, its own settings say. */
  transferKey?: TransferKey | undefined
}

/** PowerDNS leaves serials to us (`soa_edit_api`) and rectifies the zone after each change. */
const SETTINGS = { kind: 'Master', soa_edit_api: '', api_rectify: true }

/** Seconds. The last field is the TTL of DNSKEY; negative answers live for the smaller of the two (RFC 2308 §5). */
const SOA_TTL = 300
const SOA_TIMES = '3600 600 1209600 3600'

/** Why a name may not be like an NSEC3 hash (contract §8.4). */
const NSEC3_LABEL =
  'A label of 32 characters 0-9 and a-v cannot stand directly below the name of a zone: the nameserver would take it ' +
  'for the NSEC3 hash of another name, and deny that name.'

/** How many times a deletion is tried. */
const DELETIONS = 5

interface ZoneAnswer {
  serial: number
  /** The serial that resolvers see. */
  edited_serial: number
  dnssec: boolean
  nsec3param: string
  nsec3narrow: boolean
  soa_edit_api: string
  api_rectify: boolean
  master_tsig_key_ids?: string[]
  rrsets?: { name: string; type: string; ttl: number; records: { content: string }[] }[]
}

/** PowerDNS Authoritative 4.7 or later, with one ECDSA key per zone and our serial in every change (powerdns.md §0). */
export class PowerDns implements Nameserver {
  readonly catalogs: PowerDnsCatalogs
  readonly #api: Api
  readonly #url: string
  readonly #primary: string
  readonly #transferKey: TransferKey | undefined
  #traits: Traits | undefined
  /** Where PowerDNS answers queries, from what it has now; undefined: not known. */
  #dns: DnsClient | undefined
  #problem: string | undefined = 'PowerDNS was not probed'

  constructor(options: PowerDnsOptions) {
    this.#api = new Api(options)
    this.#url = options.url
    this.#primary = options.primary
    this.#transferKey = options.transferKey
    this.catalogs = new PowerDnsCatalogs(this.#api, options.transferKey)
  }

  async createZone(
    contents: NewZone,
    keys: SigningKey[],
    lease: Lease,
  ): Promise<{ keys: Key[]; signing: SigningKey[] }> {
    this.#requireProbe()
    const { zone, denial, version, rrsets, transfers } = contents
    if (transfers?.key !== undefined) await ensureKey(this.#api, transfers.key)
    if (keys.length > 0 || rrsets.length > COLLECTION_ITEMS) await this.#build(contents, keys, lease)
    else {
      const settings = { ...this.#settings(denial, transfers), dnssec: true }
      await this.#post(zone, settings, [this.#soa(zone, version), ...rrsets], lease)
    }
    const finishing = Promise.all([
      exportKeys(this.#api, zone),
      this.#flush(zone),
      transfers && allow(this.#api, zone, transfers.addresses, lease),
    ])
    const [exported] = await orHalfDone(finishing, 'refused', 'absent', 'unreachable')
    return { keys: publicKeys(exported), signing: signingKeys(exported) }
  }

  async #post(zone: string, settings: object, rrsets: PublishedRRset[], lease: Lease): Promise<void> {
    const head = JSON.stringify({ name: zone, nameservers: [], ...settings })
    const body = `${head.slice(0, -1)},"rrsets":${await this.#replacements(rrsets)}}`
    const creation = this.#api.call('POST', '/zones?rrsets=false', answerTime(rrsets.length), body, lease)
    // PowerDNS may have created part of a zone that it refuses (powerdns.md §2.3).
    await orHalfDone(creation, 'refused').catch(async (error: unknown) => {
      // It refuses a key that it does not have: it may have lost all its data. Repair tries again.
      if (this.#transferKey !== undefined) await ensureKey(this.#api, this.#transferKey).catch(() => undefined)
      throw error
    })
  }

  /**
   * Creates a zone in several requests. It gets its SOA in the last one, because PowerDNS does not serve a zone without
   * SOA: nobody sees an incomplete one, or one that is not signed. Only a secondary zone can be created without SOA.
   * @param keys none: PowerDNS makes one
   */
  async #build({ zone, denial, version, rrsets, transfers }: NewZone, keys: SigningKey[], lease: Lease): Promise<void> {
    await this.#post(zone, { kind: 'Slave' }, [], lease)
    const building = async () => {
      for (const key of keys) await importKey(this.#api, zone, key, lease)
      // What has no SOA cannot be rectified. A key is made if there is none.
      const settings = JSON.stringify({ ...this.#settings(denial, transfers), dnssec: true, api_rectify: false })
      await this.#api.call('PUT', path(zone), answerTime(0), settings, lease)
      const batches = batchesOf(rrsets)
      const last = [...batches.pop()!, this.#soa(zone, version)]
      for (const batch of batches)
        await this.#patch(zone, await this.#changes(zone, denial, batch, false), batch.length, lease)
      // Each of these may rectify the whole zone, which takes long with an SQL backend.
      const time = answerTime(rrsets.length)
      await this.#api.call('PUT', path(zone), time, JSON.stringify({ api_rectify: true }), lease)
      await this.#patch(zone, await this.#changes(zone, denial, last, true), rrsets.length, lease)
    }
    await orHalfDone(building(), 'refused', 'absent', 'unreachable')
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

  async publish(update: ZoneUpdate, rectify: boolean, lease: Lease): Promise<void> {
    await this.send(await this.prepare(update, rectify), lease)
  }

  async prepare({ zone, denial, version, rrsets }: ZoneUpdate, rectify: boolean): Promise<PreparedUpdate> {
    this.#requireProbe()
    // PowerDNS applies the changes in order and checks each against those before it, so removals come first.
    const ordered = [...rrsets.filter(isRemoval), ...rrsets.filter((rrset) => !isRemoval(rrset))]
    const batches = batchesOf(ordered)
    batches.at(-1)!.push(this.#soa(zone, version))
    return { zone, denial, rectify, batches, first: await this.#changes(zone, denial, batches[0]!, rectify) }
  }

  async send({ zone, denial, rectify, batches, first }: PreparedUpdate, lease: Lease): Promise<void> {
    await this.#patch(zone, first, batches[0]!.length, lease)
    for (const batch of batches.slice(1)) {
      const changes = await this.#changes(zone, denial, batch, rectify)
      await orHalfDone(this.#patch(zone, changes, batch.length, lease), 'refused', 'absent', 'unreachable')
    }
  }

  /** @param size how many RRsets are changed */
  async #patch(zone: string, changes: string, size: number, lease: Lease): Promise<void> {
    await this.#api.call('PATCH', path(zone), answerTime(size), changes, lease)
  }

  async #changes(zone: string, denial: Denial, rrsets: PublishedRRset[], rectify: boolean): Promise<string> {
    const removed = rrsets.filter(isRemoval).map(({ name }) => name)
    const replacements = await this.#replacements(
      rrsets,
      rectify || denial === NSEC ? staleNsec3(zone, denial, removed) : [],
    )
    return `{"rrsets":${replacements}}`
  }

  async setRectify(zone: string, rectify: boolean, lease: Lease): Promise<void> {
    this.#requireProbe()
    await this.#api.call('PUT', path(zone), answerTime(0), JSON.stringify({ api_rectify: rectify }), lease)
  }

  async configure(zone: string, denial: Denial, transfers: Transfers | undefined, lease: Lease): Promise<void> {
    await this.#set(zone, { ...this.#settings(denial, transfers), dnssec: true }, transfers, lease)
  }

  async setTransfers(zone: string, transfers: Transfers, lease: Lease): Promise<void> {
    await this.#set(zone, { master_tsig_key_ids: this.#transferKeys(transfers) }, transfers, lease)
  }

  /** Changes settings of a zone, which name the key of these transfers, and the addresses. */
  async #set(zone: string, settings: object, transfers: Transfers | undefined, lease: Lease): Promise<void> {
    this.#requireProbe()
    if (transfers?.key !== undefined) await ensureKey(this.#api, transfers.key)
    await this.#api.call('PUT', path(zone), answerTime(0), JSON.stringify(settings), lease)
    if (transfers !== undefined) await allow(this.#api, zone, transfers.addresses, lease)
  }

  async removeTransferKey(name: string): Promise<void> {
    this.#requireProbe()
    await removeKey(this.#api, name)
  }

  async keys(zone: string): Promise<Key[]> {
    return publicKeys(await listKeys(this.#api, zone))
  }

  async signingKeys(zone: string): Promise<SigningKey[]> {
    return signingKeys(await exportKeys(this.#api, zone))
  }

  async addKeys(zone: string, keys: SigningKey[], lease: Lease): Promise<void> {
    this.#requireProbe()
    for (const key of keys) await importKey(this.#api, zone, key, lease)
    if (keys.length > 0) await this.#flush(zone)
  }

  async serial(zone: string): Promise<number | undefined> {
    // In the list, because there PowerDNS need not look at keys and settings.
    const answer = await this.#api.call('GET', `/zones?zone=${encodeURIComponent(zone)}&dnssec=false`, answerTime(0))
    return (answer as { serial: number }[])[0]?.serial
  }

  async hasSerial(zone: string, serial: number): Promise<boolean> {
    const served = await this.#dns?.ask(zone.slice(0, -1), DNS_ANSWER_TIME)
    if (served?.serial === servedSerial(serial, currentTime())) return true
    return (await this.serial(zone)) === serial
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

  async read(zone: string, transfers?: Transfers): Promise<PublishedZone | undefined> {
    const size = 100_000
    const answer = await ifPresent(this.#api.call('GET', path(zone), answerTime(size)) as Promise<ZoneAnswer>)
    if (answer === undefined) return undefined
    const keys = ((await ifPresent(listKeys(this.#api, zone))) ?? []).map(stateOf)
    const rrsets = (answer.rrsets ?? []).map(({ name, type, ttl, records }) => {
      return { name, type, ttl, records: records.map(({ content }) => standard(type, content)) }
    })
    const hasSoa = rrsets.some(({ type }) => type === 'SOA')
    return {
      serial: hasSoa ? answer.serial : undefined,
      rectify: answer.api_rectify,
      // More than one key may be a key rollover by the operator; "incomplete" would delete the zone with its keys.
      complete: hasSoa && answer.dnssec && keys.some(({ active, published }) => active && published) && !repeats(keys),
      keys,
      configured:
        answer.soa_edit_api === '' &&
        this.#hasTransferKeys(answer, transfers) &&
        (transfers === undefined || (await areSet(this.#api, zone, transfers))),
      denial: denialOf(answer),
      rrsets: rrsets.filter(({ type }) => type !== 'SOA'),
    }
  }

  async survey(zone: string): Promise<FoundZone | undefined> {
    return ifPresent(survey(this.#api, path(zone)))
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
      this.#traits = await readTraits(this.#api, this.#url)
      if (this.#transferKey !== undefined) await ensureKey(this.#api, this.#transferKey)
      this.#dns = await clientAt(this.#traits.endpoints, this.#api, {
        serial: (zone) => this.serial(zone),
        remove: (zone) => this.#delete(zone),
      })
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

  get load(): Load {
    return this.#api.load
  }

  async close(): Promise<void> {
    await Promise.all([this.#api.close(), this.#dns?.close()])
  }

  /**
   * Flushes the zone's names from the caches. Otherwise queries for names that were asked before the zone existed are
   * still refused until the packet cache expires (powerdns.md §1.4).
   */
  async #flush(zone: string): Promise<void> {
    await this.#api.call('PUT', `/cache/flush?domain=${encodeURIComponent(zone)}`, answerTime(0))
  }

  /** A zone's settings at PowerDNS. */
  #settings(denial: Denial, transfers: Transfers | undefined): object {
    const settings = { ...SETTINGS, nsec3param: denial.replace(NARROW, ''), nsec3narrow: NARROW.test(denial) }
    const keys = this.#transferKeys(transfers)
    return keys.length === 0 && transfers === undefined ? settings : { ...settings, master_tsig_key_ids: keys }
  }

  /** The ids of the TSIG keys that a zone should have. */
  #transferKeys(transfers: Transfers | undefined): string[] {
    return [this.#transferKey, transfers?.key].flatMap((key) => (key === undefined ? [] : [idOf(key)]))
  }

  #hasTransferKeys({ master_tsig_key_ids: ids = [] }: ZoneAnswer, transfers: Transfers | undefined): boolean {
    const wanted = this.#transferKeys(transfers)
    return wanted.every((id) => ids.includes(id)) && (transfers === undefined || ids.length === wanted.length)
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
    const { spelling } = this.#traits!
    const replacements = await mapInSlices(rrsets, ({ name, type, ttl, records: contents }) => {
      const records = contents.map((content) => ({ content: spell(type, content, spelling), disabled: false }))
      return { name, type, ttl, changetype: 'REPLACE', records }
    })
    return stringify([...replacements, ...others])
  }
}

function isRemoval({ records }: PublishedRRset): boolean {
  return records.length === 0
}

/** One batch at least, which may be empty. */
function batchesOf(rrsets: PublishedRRset[]): PublishedRRset[][] {
  const starts = Array.from({ length: Math.max(1, Math.ceil(rrsets.length / COLLECTION_ITEMS)) }, (_, i) => i)
  return starts.map((i) => rrsets.slice(i * COLLECTION_ITEMS, (i + 1) * COLLECTION_ITEMS))
}

/** Whether a key is there twice: an import that arrived late has repeated it (powerdns.md §8). */
function repeats(keys: KeyState[]): boolean {
  return new Set(keys.map(({ dnskey }) => dnskey)).size < keys.length
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
