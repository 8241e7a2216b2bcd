import type { Name } from '../../dns/names.ts'
import { DAY, type Timestamp, unixTime } from '../../time.ts'
import type { Denial, PublishedRRset, TransferKey, Transfers } from '../nameserver.ts'
import { NARROW } from './nsec3.ts'
import { idOf } from './transfers.ts'

export interface ZoneOptions {
  /** The SOA's primary name server: an absolute name. */
  primary: string
  /** Seconds. */
  dnskeyTtl: number
  /** The TSIG key with which every zone may be transferred; undefined: the settings of each zone decide. */
  transferKey?: TransferKey | undefined
}

/** PowerDNS leaves serials to us (`soa_edit_api`), rectifies after each change, and makes a key if none exists. */
const SETTINGS = { kind: 'Master', soa_edit_api: '', api_rectify: true, dnssec: true }

/** Seconds. The last field, which follows, is the TTL of DNSKEY; negative answers live for the smaller of the two (RFC 2308 §5). */
const SOA_TTL = 300
const SOA_TIMES = '3600 600 1209600'

/** The settings and the SOA that zones should have at PowerDNS. */
export class ZoneSettings {
  readonly options: ZoneOptions

  constructor(options: ZoneOptions) {
    this.options = options
  }

  /** Returns a zone's settings at PowerDNS. */
  of(denial: Denial, transfers: Transfers | undefined): object {
    const settings = { ...SETTINGS, nsec3param: denial.replace(NARROW, ''), nsec3narrow: NARROW.test(denial) }
    const keys = this.transferKeys(transfers)
    return keys.length === 0 && transfers === undefined ? settings : { ...settings, master_tsig_key_ids: keys }
  }

  /** Returns the ids of the TSIG keys that a zone should have. */
  transferKeys(transfers: Transfers | undefined): string[] {
    return [this.options.transferKey, transfers?.key].flatMap((key) => (key === undefined ? [] : [idOf(key)]))
  }

  /** Reports whether these are the ids of the keys that a zone should have. */
  areTransferKeys(ids: string[], transfers: Transfers | undefined): boolean {
    const wanted = this.transferKeys(transfers)
    return wanted.every((id) => ids.includes(id)) && (transfers === undefined || ids.length === wanted.length)
  }

  soa(zone: Name, version: number): PublishedRRset {
    const content = `${this.options.primary} hostmaster.${zone} ${version} ${SOA_TIMES} ${this.options.dnskeyTtl}`
    return { subname: '', type: 'SOA', ttl: SOA_TTL, records: [content] }
  }
}

/**
 * Returns the serial that PowerDNS serves for a version that was published then: it adds the weeks since 1970, so that
 * secondaries fetch new signatures (powerdns.md §0).
 */
export function servedSerial(version: number, published: Timestamp): number {
  return version + Math.floor(unixTime(published) / (7 * DAY))
}
