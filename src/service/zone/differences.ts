import { Malformed, parseRdata } from '../../dns/rdata.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import { inSlices, type Work } from '../../flow/slices.ts'

/** An RRset that differs: as it is served, undefined if it is not, and as it should be, without records if not at all. */
export interface Difference {
  live: PublishedRRset | undefined
  desired: PublishedRRset
}

/** Where `live` differs from `desired`, removals first. Contents are compared by meaning: PowerDNS respells some. */
export async function differences(desired: PublishedRRset[], live: PublishedRRset[]): Promise<Difference[]> {
  return inSlices(compare(desired, live))
}

function* compare(desired: PublishedRRset[], live: PublishedRRset[]): Work<Difference[]> {
  const surplus = new Map<string, PublishedRRset>()
  for (const rrset of live) {
    surplus.set(keyOf(rrset), rrset)
    yield
  }
  const changes: Difference[] = []
  for (const rrset of desired) {
    const served = surplus.get(keyOf(rrset))
    surplus.delete(keyOf(rrset))
    if (served === undefined || !(yield* equal(rrset, served))) changes.push({ live: served, desired: rrset })
    yield
  }
  return [...Array.from(surplus.values(), (rrset) => ({ live: rrset, desired: { ...rrset, records: [] } })), ...changes]
}

function keyOf({ subname, type }: PublishedRRset): string {
  return `${type} ${subname.toLowerCase()}`
}

/** Yields after each record that it parses. */
function* equal(one: PublishedRRset, other: PublishedRRset): Work<boolean> {
  if (one.ttl !== other.ttl || one.records.length !== other.records.length) return false
  if (one.records.every((content, i) => content === other.records[i])) return true
  return (yield* keys(one)) === (yield* keys(other))
}

function* keys({ type, records }: PublishedRRset): Work<string> {
  const found: string[] = []
  for (const content of records) {
    found.push(key(type, content))
    yield
  }
  return JSON.stringify(found.sort())
}

/** Equal for contents of equal meaning. A content that we cannot parse equals none of ours. */
function key(type: string, content: string): string {
  try {
    return parseRdata(type, content).key
  } catch (error) {
    if (error instanceof Malformed) return `malformed ${content}`
    throw error
  }
}
