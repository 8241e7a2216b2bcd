import { absolute } from '../../dns/names.ts'
import type { System } from '../../system.ts'
import type { Domain } from '../domains/domains.ts'
import type { RRsetState } from '../zone/rrsets.ts'

/** A domain as a zone at the nameserver. */
export interface ZoneView {
  domain: Domain
  /** The serial that is served now. */
  serial: number
  nsec3param: string
  nsec3narrow: boolean
}

/** Returns the zone of a domain, without asking the nameserver. */
export function viewOf({ nameserver, now }: System, domain: Domain): ZoneView {
  const [, nsec3param = '', narrow] = /^(.*?)( narrow)?$/.exec(domain.denial)!
  const serial = nameserver.servedSerial(domain.version, now())
  return { domain, serial, nsec3param, nsec3narrow: narrow !== undefined }
}

/** Returns the SOA RRset that is served now for a version of a domain. */
export function soaOf({ nameserver, now }: System, { name }: Domain, version: number): RRsetState {
  return nameserver.soaOf(absolute(name), version, now())
}
