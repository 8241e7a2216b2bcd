import type { PublishedRRset } from '../nameserver.ts'

/** The octets of an RRset beyond which LMDB may keep it apart from its key, with room for what a record adds. */
const LONG = 1_000
const RECORD_OCTETS = 24

/**
 * Reports whether PowerDNS' LMDB must rectify an RRset in the transaction that stores it. If it rectifies a long RRset
 * later, it loses it (powerdns.md §1.3).
 */
export function isLong({ records }: Pick<PublishedRRset, 'records'>): boolean {
  let octets = 0
  for (const { length } of records) {
    octets += length + RECORD_OCTETS
    if (octets > LONG) return true
  }
  return false
}
