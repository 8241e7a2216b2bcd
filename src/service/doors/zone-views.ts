import { absolute } from '../../dns/names.ts'
import { DENIALS } from '../../nameserver/nameserver.ts'
import type { System } from '../../system.ts'
import type { Domain } from '../domains/domains.ts'
import type { RRsetState } from '../rrsets/rrsets.ts'

/** How a zone denies what does not exist; an empty text: by NSEC. */
export interface Nsec3 {
  nsec3param: string
  nsec3narrow: boolean
}

/** A domain as a zone at the nameserver. */
export interface ZoneView extends Nsec3 {
  domain: Domain
  /** The serial that is served now. */
  serial: number
}

/** Returns the zone of a domain, without asking the nameserver. */
export function viewOf({ nameserver, now }: System, domain: Domain): ZoneView {
  return { domain, serial: nameserver.servedSerial(domain.version, now()), ...nsec3Of(domain.denial) }
}

/** Returns how new zones deny what does not exist. */
export function nsec3OfNew({ config }: System): Nsec3 {
  return nsec3Of(DENIALS[config.denial])
}

function nsec3Of(denial: string): Nsec3 {
  const [, nsec3param = '', narrow] = /^(.*?)( narrow)?$/.exec(denial)!
  return { nsec3param, nsec3narrow: narrow !== undefined }
}

/** Returns the SOA RRset that is served now for a version of a domain. */
export function soaOf({ nameserver, now }: System, { name }: Domain, version: number): RRsetState {
  return nameserver.soaOf(absolute(name), version, now())
}
