import type { Name } from '../dns/names.ts'
import type { Timestamp } from '../time.ts'

/** What determines for how long resolvers may have the former keys of a zone, in seconds. */
export interface Waits {
  /** The TTL of DNSKEY, CDS and CDNSKEY, which is the last field of the SOA, too. */
  dnskeyTtl: number
  /** How long the wait for the TTL of the DS goes on, because the parent has more servers than we see (anycast). */
  dsMargin: number
  /** The TTL of a DS that no check has seen: as long as most parents have. */
  dsTtl: number
  /** The shortest pause between two looks at the parent. */
  parentPause: number
}

export const WAITS: Waits = { dnskeyTtl: 3600, dsMargin: 3600, dsTtl: 86_400, parentPause: 60 }

/**
 * The zone that probes make and delete. It is the same in all processes, so that each probe deletes the remains of an
 * earlier one that was cut short. Nobody can register its name (contract §7.3).
 */
export const SCRATCH_ZONE: Name = 'probe-dns.zoneplane.invalid.'

/** The zone that shows whether two nameservers have the same data. */
export const STANDBY_SCRATCH_ZONE: Name = 'probe-standby.zoneplane.invalid.'

/** An RRset as the nameserver serves it: the records are in standard presentation format. */
export interface PublishedRRset {
  /** Its name without that of the zone; empty at the apex. */
  subname: string
  type: string
  ttl: number
  /** The contents; empty: the RRset is to be deleted. */
  records: string[]
}

/** A served zone, without the RRsets that the nameserver generates (SOA, DNSSEC). */
export interface PublishedZone {
  /** The serial; undefined: the zone has no SOA. */
  serial: number | undefined
  /** True if each publication rectifies the zone. */
  rectify: boolean
  /** True if the zone has a SOA and a key: a half-created or half-deleted zone lacks one of them. */
  complete: boolean
  keys: KeyState[]
  /** True if the handling of serials and the permissions to transfer the zone are set as we want. */
  configured: boolean
  denial: Denial
  /**
   * True if the zone's CDS and CDNSKEY are all among `rrsets`; false if it also has those of each published key;
   * undefined: it has others.
   */
  ownCds: boolean | undefined
  rrsets: PublishedRRset[]
}

/** RRsets for a zone, and the SOA serial that it gets with them. */
export interface ZoneUpdate {
  zone: Name
  denial: Denial
  version: number
  rrsets: PublishedRRset[]
}

/** A ZoneUpdate that is ready to be sent, in one or more batches. */
export interface PreparedUpdate extends Pick<ZoneUpdate, 'zone' | 'denial'> {
  rectify: boolean
  batches: PublishedRRset[][]
  /** The text that is sent first. */
  first: string
}

/** The initial contents of a zone. */
export interface NewZone extends ZoneUpdate {
  ownCds: boolean
  transfers?: Transfers | undefined
}

/** The permissions to transfer a zone besides the operator's. Either an address or the key suffices. */
export interface Transfers {
  /** Addresses and networks that need no key. */
  addresses: string[]
  /** The zone's own key. */
  key: TransferKey | undefined
}

/** A TSIG key (RFC 8945): a name without final dot, e.g. `hmac-sha256`, and the secret in base64. */
export interface TransferKey {
  name: string
  algorithm: string
  secret: string
}

/**
 * The denial of existence in a zone: empty for NSEC, otherwise the contents of NSEC3PARAM (RFC 5155 §4), with ` narrow`
 * after them if each denial is made up for its question.
 */
export type Denial = string

/** NSEC (RFC 4034 §4). */
export const NSEC: Denial = ''

/** NSEC3 without salt and extra iterations (RFC 9276 §3.1), and not narrow, so that zone transfers are possible. */
export const NSEC3: Denial = '1 0 0 -'

/** The denials of zones that we make, by their names for the operator. */
export const DENIALS = { nsec: NSEC, nsec3: NSEC3 }

/** A foreign zone, with all that an adoption must know. */
export interface FoundZone {
  /** "Native" or "Master" if the nameserver is its source; others are transferred from elsewhere, or catalogs. */
  kind: string
  /** Free text: PowerDNS' field `account`. */
  account: string
  /** The SOA serial in the nameserver's database. */
  serial: number
  /** True if its signatures were made elsewhere. */
  presigned: boolean
  denial: Denial
  /** The kinds of its metadata. */
  metadata: string[]
  /** All stored RRsets, including the SOA. */
  rrsets: FoundRRset[]
}

/** An RRset, including the part that is not served. */
export interface FoundRRset extends Omit<PublishedRRset, 'subname'> {
  name: Name
  /** The number of its further records, which are not served. */
  disabled: number
  comments: number
}

/** A key that may sign. */
export interface KeyState {
  /** The public half: the content of its DNSKEY record (RFC 4034 §2). */
  dnskey: string
  active: boolean
  published: boolean
}

/** A key with its private half, in the format of BIND (`Private-key-format`). No log, error or answer may have it. */
export interface SigningKey extends KeyState {
  privateKey: string
}

/** The right to change a zone, which may end while a request waits to be sent. */
export interface Lease {
  /** Rejects if the right has ended: then the caller sends nothing. */
  confirm(): Promise<void>
}

/** A catalog zone (RFC 9432). */
export interface Catalog {
  serial: number
  /** The members' zones by their labels; names without final dot. */
  members: Map<string, string>
  /** True if all the rest is as it should be. */
  sound: boolean
}

/** Catalog zones at the nameserver: ordinary zones, not signed. Names are without final dot. */
export interface Catalogs {
  /** Reads a catalog zone; undefined: it does not exist. */
  read(catalog: string): Promise<Catalog | undefined>
  /**
   * Creates the zone with the added members at once, or changes it atomically, and makes it `sound`. A failure of a
   * creation may leave part of it, which `read` shows.
   * @param live what there is; undefined: the zone does not exist
   * @param removed labels
   */
  publish(
    catalog: string,
    live: Pick<Catalog, 'sound'> | undefined,
    serial: number,
    added: Map<string, string>,
    removed: string[],
  ): Promise<void>
  remove(catalog: string): Promise<void>
}

/**
 * An authoritative nameserver that signs. Zones are absolute names (final dot). Every function rejects with
 * NameserverFailure, whose kind states what is known afterwards. A function that changes a zone resolves when DNS
 * answers the new state. It confirms the lease just before it sends a request, and rejects with the lease's error if
 * the lease has ended.
 */
export interface Nameserver {
  /**
   * Creates a zone. Not atomic: while several requests create a zone, it has no SOA.
   * @param keys its signing keys; none: it gets a new one
   * @returns all its keys
   */
  createZone(contents: NewZone, keys: SigningKey[], lease: Lease): Promise<SigningKey[]>
  /** Deletes a zone and its keys; resolves also if the zone does not exist. Not atomic. */
  deleteZone(zone: Name, lease: Lease): Promise<void>
  /**
   * Replaces these RRsets and the SOA serial. Atomic for up to COLLECTION_ITEMS RRsets that fit into the body of a
   * user's request; more are sent in batches, the serial in the last one.
   * @param rectify the value that setRectify set last; it must be true if names disappear
   */
  publish(changes: ZoneUpdate, rectify: boolean, lease: Lease): Promise<void>
  /** Does the first half of `publish`, which sends nothing yet. */
  prepare(changes: ZoneUpdate, rectify: boolean): Promise<PreparedUpdate>
  /** Does the second half of `publish`: sends the first batch at once. */
  send(update: PreparedUpdate, lease: Lease): Promise<void>
  /** Sets whether each publication rectifies the zone (DNSSEC order, delegations), in time linear in its size. */
  setRectify(zone: Name, rectify: boolean, lease: Lease): Promise<void>
  /**
   * Makes the zone `configured`, sets `denial` and `rectify`, and signs the zone with a new key if it has none; takes
   * effect with the next publication.
   * @param transfers undefined: they stay as they are
   */
  configure(zone: Name, denial: Denial, transfers: Transfers | undefined, lease: Lease): Promise<void>
  /** Sets `ownCds`, for the next publication. Not atomic. */
  setOwnCds(zone: Name, ownCds: boolean, lease: Lease): Promise<void>
  /** Sets the permissions to transfer the zone, at once. Not atomic. */
  setTransfers(zone: Name, transfers: Transfers, lease: Lease): Promise<void>
  /** Removes a key that no longer belongs to any zone. */
  removeTransferKey(name: string): Promise<void>
  /** Returns all keys of the zone, with their private halves. */
  signingKeys(zone: Name): Promise<SigningKey[]>
  /** Gives the zone these keys, in their states, and deletes those with the public halves in `gone`. Not atomic. */
  setKeys(zone: Name, keys: SigningKey[], gone: string[], lease: Lease): Promise<void>
  /** Returns the states of the zone's keys. */
  keyStates(zone: Name): Promise<KeyState[]>
  /** Returns the zone's SOA serial as we set it, 0 if it has no SOA; undefined if the zone does not exist. */
  serial(zone: Name): Promise<number | undefined>
  /** Reports whether the zone has this SOA serial, as we set it; undefined: none. Costs less than `serial` if it has. */
  hasSerial(zone: Name, serial: number | undefined): Promise<boolean>
  /** Returns the serial that is served for a version that was published then; the nameserver may have increased it. */
  servedSerial(version: number, published: Timestamp): number
  /** Returns the SOA RRset that is served then for this version. */
  soaOf(zone: Name, version: number, at: Timestamp): PublishedRRset
  /** Reads the whole zone; undefined if it does not exist. @param transfers required by `configured`; undefined: any */
  read(zone: Name, transfers?: Transfers): Promise<PublishedZone | undefined>
  /** Reads a zone that may be foreign; undefined if it does not exist. */
  survey(zone: Name): Promise<FoundZone | undefined>
  /** Returns the serials of all zones, in time linear in their number: for repair and the operator, not requests. */
  serials(): Promise<Map<Name, number>>
  /** Resolves if the nameserver answers, accepts our credentials, and was probed. */
  ready(): Promise<void>
  /**
   * Detects behaviour that depends on the nameserver's version and settings. Until it has succeeded, functions that
   * change a zone reject with the kind "unreachable". Resolves with the warnings for the operator.
   */
  probe(): Promise<string[]>
  /** The reason why the service cannot publish yet: no probe has succeeded. undefined: one has. */
  readonly problem: string | undefined
  /** True if every publication must rectify the zone, whatever it changes. Known after the probe. */
  readonly alwaysRectify: boolean
  /** Reports whether the publication that stores this RRset must rectify the zone; otherwise the RRset could get lost. */
  mustRectify(rrset: Pick<PublishedRRset, 'records'>): boolean
  /**
   * Returns the damage that somebody could do to a zone of this denial with a name that has this label directly below
   * the zone's; undefined: none.
   * @throws NameserverFailure if only a probe could detect it
   */
  labelProblem(label: string, denial: Denial): string | undefined
  /** Reports whether it answers from its database within so many milliseconds, however many requests are open. */
  answers(limit: number): Promise<boolean>
  /** Breaks off all open requests: it may still apply them. Later ones are possible. */
  abandon(): Promise<void>
  /** The numbers of open requests, and of requests that wait for a connection. */
  readonly load: { open: number; waiting: number }
  readonly catalogs: Catalogs
  close(): Promise<void>
}
