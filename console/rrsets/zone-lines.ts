import { nameOf } from '../../src/dns/names.ts'
import { printRRset } from '../../src/dns/zonefile.ts'
import type { RRset } from './rrset.ts'

/** RRsets as lines of a zone file, with absolute names: good in any file. */
export function zoneLines(domain: string, rrsets: RRset[]): string {
  return rrsets.map((rrset) => printRRset({ ...rrset, name: nameOf({ name: domain }, rrset.subname) })).join('')
}
