import { DAY } from '../../limits.ts'
import { unixTime, type Timestamp } from '../../time.ts'

/**
 * The serial that PowerDNS serves for a version that was published then: it adds the weeks since 1970, so that secondaries
 * fetch new signatures (powerdns.md §0).
 */
export function servedSerial(version: number, published: Timestamp): number {
  return version + Math.floor(unixTime(published) / (7 * DAY))
}
