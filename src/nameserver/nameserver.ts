/** An RRset as the nameserver serves it: `name` is absolute, records are in the nameserver's spelling. */
export interface PublishedRRset {
  name: string
  type: string
  ttl: number
  /** Empty: there shall be no such RRset. */
  records: string[]
}

/** What is served of a zone, without what the nameserver makes itself (SOA, DNSSEC). */
export interface PublishedZone {
  /** Undefined: it has no SOA. */
  serial: number | undefined
  /** Whether each publication rectifies the zone. */
  rectify: boolean
  /** Whether the zone has its SOA and a key: a zone half created or half deleted lacks one. */
  complete: boolean
  /** Whether it denies names, and leaves serials alone, as we want. */
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

/**
 * An authoritative nameserver that signs. Zones are absolute names (final dot). Every function rejects with
 * NameserverFailure, whose kind tells what is known afterwards.
 */
export interface Nameserver {
  /**
   * Creates and signs a zone with these RRsets and this SOA serial; once resolved, it is answered. Not atomic: a zone that
   * is created in several requests has no SOA until the last one, or the serial before `version`.
   */
  createZone(zone: string, version: number, rrsets: PublishedRRset[]): Promise<void>
  /** Deletes a zone and its keys; resolves when it is gone, also if it never was there. Not atomic. */
  deleteZone(zone: string): Promise<void>
  /**
   * Replaces these RRsets and the SOA serial; once resolved, the new state is answered. All or nothing for as many
   * RRsets as a request may have; more are sent in batches, the serial with the last one.
   * @param rectify what setRectify set last; it must be true if names go
   */
  publish(zone: string, version: number, rrsets: PublishedRRset[], rectify: boolean): Promise<void>
  /** Whether each publication also works out the zone's order and delegations anew (cost: the zone's size). */
  setRectify(zone: string, rectify: boolean): Promise<void>
  /** Makes the zone `configured`, and has it rectified by each publication; then publish it. */
  configure(zone: string): Promise<void>
  /** The published keys. */
  keys(zone: string): Promise<Key[]>
  /** The zone's SOA serial as we set it, 0 if it has no SOA; undefined if there is no such zone. */
  serial(zone: string): Promise<number | undefined>
  /** The SOA RRset, with the serial under which this version is served: it is moved on while the zone stays as it is. */
  servedSoa(zone: string, version: number): Promise<PublishedRRset>
  /** The whole zone; undefined if there is no such zone. */
  read(zone: string): Promise<PublishedZone | undefined>
  /** The serials of all zones. Its cost grows with their number: for repair, never for a request. */
  serials(): Promise<Map<string, number>>
  /** Resolves if the nameserver answers and accepts our credentials. */
  ready(): Promise<void>
  /** Learns what of the nameserver's ways depends on its version; to be called once, before anything is published. */
  probe(): Promise<void>
  close(): Promise<void>
}
