import { Malformed, parseRdata } from '../../dns/rdata.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import { inSlices, type Work } from '../../slices.ts'

/**
 * What must be published so that `live` becomes `desired`, removals first. Contents are compared by meaning, because a
 * nameserver returns some of them in a spelling of its own.
 */
export async function differences(desired: PublishedRRset[], live: PublishedRRset[]): Promise<PublishedRRset[]> {
  return inSlices(compare(desired, live))
}

function* compare(desired: PublishedRRset[], live: PublishedRRset[]): Work<PublishedRRset[]> {
  const surplus = new Map<string, PublishedRRset>()
  for (const rrset of live) {
    surplus.set(keyOf(rrset), rrset)
    yield
  }
  const changes: PublishedRRset[] = []
  for (const rrset of desired) {
    const other = surplus.get(keyOf(rrset))
    surplus.delete(keyOf(rrset))
    if (other === undefined || !equal(rrset, other)) changes.push(rrset)
    yield
  }
  return [...Array.from(surplus.values(), (rrset) => ({ ...rrset, records: [] })), ...changes]
}

function keyOf({ name, type }: PublishedRRset): string {
  return `${type} ${name.toLowerCase()}`
}

function equal(one: PublishedRRset, other: PublishedRRset): boolean {
  if (one.ttl !== other.ttl || one.records.length !== other.records.length) return false
  return (
    one.records.every((content, i) => content === other.records[i]) ||
    keys(one.type, one.records) === keys(other.type, other.records)
  )
}

function keys(type: string, records: string[]): string {
  return JSON.stringify(records.map((content) => key(type, content)).sort())
}

/** What two equal contents have in common; a content that is not ours equals nothing of ours. */
function key(type: string, content: string): string {
  try {
    return parseRdata(type, content).key
  } catch (error) {
    if (error instanceof Malformed) return `malformed ${content}`
    throw error
  }
}
