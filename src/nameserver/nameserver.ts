/** An RRset as the nameserver serves it: `name` is absolute, the records are in standard presentation format. */
export interface PublishedRRset {
  name: string
  type: string
  ttl: number
  /** Empty: the RRset is to be deleted. */
  records: string[]
}

/** A served zone, without the RRsets that the nameserver generates (SOA, DNSSEC). */
export interface PublishedZone {
  /** Undefined: the zone has no SOA. */
  serial: number | undefined
  /** Whether each publication rectifies the zone. */
  rectify: boolean
  /** Whether the zone has a SOA and a key: a half-created or half-deleted zone lacks one of them. */
  complete: boolean
  /** Whether NSEC3 and the handling of serials are set as we want. */
  configured: boolean
  rrsets: PublishedRRset[]
}

/** A published DNSSEC key: `dnskey` and `ds` are record contents (RFC 4034 §§2, 5), `ds` with digests 2 and 4. */
export interface Key {
  dnskey: string
  ds: string[]
  flags: number
  keytype: string
}

/** The right to change a zone, which may end while a request waits to be sent. */
export interface Lease {
  /** Rejects if the right has ended: then nothing is sent. */
  confirm(): Promise<void>
}

/**
 * An authoritative nameserver that signs. Zones are absolute names (final dot). Every function rejects with
 * NameserverFailure, whose kind states what is known afterwards. A function that changes a zone resolves when DNS
 * answers the new state. It confirms the lease just before it sends a request, and rejects with the lease's error if the
 * lease has ended.
 */
export interface Nameserver {
  /**
   * Creates and signs a zone with these RRsets and this SOA serial. Not atomic: while several requests create a zone,
   * it has no SOA or the serial before `version`.
   */
  createZone(zone: string, version: number, rrsets: PublishedRRset[], lease: Lease): Promise<void>
  /** Deletes a zone and its keys; resolves also if the zone does not exist. Not atomic. */
  deleteZone(zone: string, lease: Lease): Promise<void>
  /**
   * Replaces these RRsets and the SOA serial. Atomic for up to COLLECTION_ITEMS RRsets; more are sent in batches, the
   * serial in the last one.
   * @param rectify the value that setRectify set last; it must be true if names disappear
   */
  publish(zone: string, version: number, rrsets: PublishedRRset[], rectify: boolean, lease: Lease): Promise<void>
  /** Sets whether each publication rectifies the zone (DNSSEC order, delegations), in time linear in its size. */
  setRectify(zone: string, rectify: boolean, lease: Lease): Promise<void>
  /** Makes the zone `configured`, and sets `rectify`; takes effect with the next publication. */
  configure(zone: string, lease: Lease): Promise<void>
  /** The published keys. */
  keys(zone: string): Promise<Key[]>
  /** The zone's SOA serial as we set it, 0 if it has no SOA; undefined if the zone does not exist. */
  serial(zone: string): Promise<number | undefined>
  /** The SOA RRset with the serial that is served for this version. The nameserver increases it when signing again. */
  servedSoa(zone: string, version: number): Promise<PublishedRRset>
  /** The whole zone; undefined if it does not exist. */
  read(zone: string): Promise<PublishedZone | undefined>
  /** The serials of all zones. Takes time linear in their number: for repair, never for a request. */
  serials(): Promise<Map<string, number>>
  /** Resolves if the nameserver answers, accepts our credentials, and was probed. */
  ready(): Promise<void>
  /**
   * Detects behaviour that depends on the nameserver's version and settings. Until it has succeeded, functions that
   * change a zone reject with the kind "unreachable". Resolves with what the operator should change about the nameserver.
   */
  probe(): Promise<string[]>
  /** Why nothing can be published yet: no probe has succeeded. undefined: one has. */
  readonly problem: string | undefined
  /** Whether every publication must rectify the zone, whatever it changes. Known after the probe. */
  readonly alwaysRectify: boolean
  /**
   * Why names with this label directly below a zone's name cannot be published; undefined: they can.
   * @throws NameserverFailure if only a probe could tell
   */
  labelProblem(label: string): string | undefined
  close(): Promise<void>
}
