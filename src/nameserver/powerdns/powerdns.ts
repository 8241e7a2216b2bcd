import { type Name, relative } from '../../dns/names.ts'
import { NameserverFailure, reasonOf } from '../../errors.ts'
import { answerTime, requestSize } from '../../limits.ts'
import { currentTime, type Timestamp } from '../../time.ts'
import {
  type Denial,
  type FoundZone,
  type KeyState,
  type Lease,
  type Nameserver,
  type NewZone,
  NSEC,
  type PreparedUpdate,
  type PublishedRRset,
  type PublishedZone,
  type SigningKey,
  type Transfers,
  type ZoneUpdate,
} from '../nameserver.ts'
import type { DnsClient } from '../wire/client.ts'
import { Api, type ApiOptions, flush, ifPresent, zonePath } from './api.ts'
import { PowerDnsCatalogs } from './catalogs.ts'
import { exportKeys, listKeys, setKeys, stateOf } from './cryptokeys.ts'
import { setOwnCds } from './metadata.ts'
import { isNsec3Label, NSEC3_LABEL } from './nsec3.ts'
import { clientAt, DNS_ANSWER_TIME } from './own-dns.ts'
import { isAnswering, readSerial, readSerials, readZone } from './published-zone.ts'
import type { Spelling } from './spelling.ts'
import { survey } from './survey.ts'
import { readTraits, type Traits, type TraitsOptions } from './traits.ts'
import { allow, ensureKey, removeKey } from './transfers.ts'
import { batchesOf, changesOf, createZone, deleteZone, isLong, orHalfDone, patch } from './zone-changes.ts'
import { servedSerial, type ZoneOptions, ZoneSettings } from './zone-settings.ts'

export type PowerDnsOptions = ApiOptions & ZoneOptions & TraitsOptions

/** Milliseconds for which a check of health waits: balancers take a process that answers slowly for one that hangs. */
const HEALTH_WAIT = 500

/** PowerDNS Authoritative 4.7 or later, with one ECDSA key per zone and our serial in every change (powerdns.md §0). */
export class PowerDns implements Nameserver {
  problem: string | undefined = 'PowerDNS was not probed'
  readonly catalogs: PowerDnsCatalogs
  readonly #api: Api
  /** The API on a connection of its own, for questions that may not wait for other calls. */
  readonly #aside: Api
  readonly #options: PowerDnsOptions
  readonly #settings: ZoneSettings
  #traits: Traits | undefined
  /** The client that reads PowerDNS' present data over DNS; undefined: not known. */
  #dns: DnsClient | undefined

  constructor(options: PowerDnsOptions) {
    this.#api = new Api(options)
    this.#aside = new Api({ ...options, connections: 1 })
    this.#options = options
    this.#settings = new ZoneSettings(options)
    this.catalogs = new PowerDnsCatalogs(this.#api, options.transferKey)
  }

  async createZone(contents: NewZone, keys: SigningKey[], lease: Lease): Promise<SigningKey[]> {
    this.#requireProbe()
    return createZone({ api: this.#api, settings: this.#settings, spelling: this.#spelling }, contents, keys, lease)
  }

  async deleteZone(zone: Name, lease: Lease): Promise<void> {
    this.#requireProbe()
    await deleteZone(this.#api, zone, lease)
  }

  async publish(update: ZoneUpdate, rectify: boolean, lease: Lease): Promise<void> {
    await this.send(await this.prepare(update, rectify, false), lease)
  }

  async prepare(update: ZoneUpdate, rectify: boolean, isAtomic = true): Promise<PreparedUpdate> {
    const { zone, denial, version, rrsets } = update
    const batches = batchesOf(rrsets, isAtomic)
    this.#requireProbe()
    batches.at(-1)!.push(this.#settings.soa(zone, version))
    const first = await changesOf(zone, denial, batches[0]!, rectify, this.#spelling)
    return { zone, denial, rectify, batches, first }
  }

  async send({ zone, denial, rectify, batches, first }: PreparedUpdate, lease: Lease): Promise<void> {
    await patch(this.#api, zone, first, requestSize(batches[0]!), lease)
    for (const batch of batches.slice(1)) {
      const changes = await changesOf(zone, denial, batch, rectify, this.#spelling)
      await orHalfDone(patch(this.#api, zone, changes, requestSize(batch), lease), 'refused', 'absent', 'unreachable')
    }
  }

  async setRectify(zone: Name, rectify: boolean, lease: Lease): Promise<void> {
    this.#requireProbe()
    await this.#api.call('PUT', zonePath(zone), answerTime(0), JSON.stringify({ api_rectify: rectify }), lease)
  }

  async configure(zone: Name, denial: Denial, transfers: Transfers | undefined, lease: Lease): Promise<void> {
    await this.#set(zone, this.#settings.of(denial, transfers), transfers, lease)
  }

  async setTransfers(zone: Name, transfers: Transfers, lease: Lease): Promise<void> {
    await this.#set(zone, { master_tsig_key_ids: this.#settings.transferKeys(transfers) }, transfers, lease)
  }

  /** Changes settings of a zone, including the key and the addresses of these transfers. */
  async #set(zone: Name, settings: object, transfers: Transfers | undefined, lease: Lease): Promise<void> {
    this.#requireProbe()
    if (transfers?.key !== undefined) await ensureKey(this.#api, transfers.key)
    await this.#api.call('PUT', zonePath(zone), answerTime(0), JSON.stringify(settings), lease)
    if (transfers !== undefined) await allow(this.#api, zone, transfers.addresses, lease)
  }

  async setOwnCds(zone: Name, ownCds: boolean, lease: Lease): Promise<void> {
    this.#requireProbe()
    await setOwnCds(this.#api, zone, ownCds, lease)
  }

  async removeTransferKey(name: string): Promise<void> {
    this.#requireProbe()
    await removeKey(this.#api, name)
  }

  async signingKeys(zone: Name): Promise<SigningKey[]> {
    return exportKeys(this.#api, zone)
  }

  async keyStates(zone: Name): Promise<KeyState[]> {
    return (await listKeys(this.#api, zone)).map(stateOf)
  }

  async setKeys(zone: Name, keys: SigningKey[], gone: string[], lease: Lease): Promise<void> {
    this.#requireProbe()
    await setKeys(this.#api, zone, keys, gone, lease)
    await flush(this.#api, zone)
  }

  async serial(zone: Name): Promise<number | undefined> {
    return readSerial(this.#api, zone)
  }

  async hasSerial(zone: Name, serial: number | undefined): Promise<boolean> {
    const served = await this.#dns?.ask(relative(zone), DNS_ANSWER_TIME)
    if (serial !== undefined && served?.serial === servedSerial(serial, currentTime())) return true
    return (await this.serial(zone)) === serial
  }

  servedSerial(version: number, published: Timestamp): number {
    return servedSerial(version, published)
  }

  soaOf(zone: Name, version: number, at: Timestamp): PublishedRRset {
    return this.#settings.soa(zone, servedSerial(version, at))
  }

  async read(zone: Name, transfers?: Transfers): Promise<PublishedZone | undefined> {
    return readZone(this.#api, zone, this.#settings, transfers)
  }

  async survey(zone: Name): Promise<FoundZone | undefined> {
    return ifPresent(survey(this.#api, zone))
  }

  async serials(): Promise<Map<Name, number>> {
    return readSerials(this.#api)
  }

  async ready(): Promise<void> {
    this.#requireProbe()
    await this.#api.call('GET', '', HEALTH_WAIT)
  }

  async probe(): Promise<string[]> {
    try {
      // First, because it changes nothing: a PowerDNS that fails gets no scratch zone.
      this.#traits = await readTraits(this.#api, this.#options)
      const { transferKey } = this.#options
      if (transferKey !== undefined) await ensureKey(this.#api, transferKey)
      this.#dns = await clientAt(this.#traits.endpoints, this.#api)
      this.problem = undefined
      return this.#traits.warnings
    } catch (error) {
      this.problem = reasonOf(error)
      throw error
    }
  }

  /** @throws NameserverFailure of the kind "unreachable" until a probe has succeeded */
  #requireProbe(): void {
    if (this.problem !== undefined) throw new NameserverFailure('unreachable', this.problem)
  }

  /** Known after the probe. */
  get #spelling(): Spelling {
    return this.#traits!.spelling
  }

  get alwaysRectify(): boolean {
    return this.#traits?.forgetsOrder === true
  }

  mustRectify(rrset: Pick<PublishedRRset, 'records'>): boolean {
    return isLong(rrset)
  }

  labelProblem(label: string, denial: Denial): string | undefined {
    if (denial === NSEC || !isNsec3Label(label)) return undefined
    this.#requireProbe()
    return this.#traits?.confusesHashes === true ? NSEC3_LABEL : undefined
  }

  async answers(limit: number): Promise<boolean> {
    return isAnswering(this.#aside, limit)
  }

  async abandon(): Promise<void> {
    await this.#api.close()
  }

  get load(): Nameserver['load'] {
    return this.#api.load
  }

  async close(): Promise<void> {
    await Promise.all([this.#api.close(), this.#aside.close(), this.#dns?.close()])
  }
}
