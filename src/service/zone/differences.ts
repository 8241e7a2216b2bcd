import { Malformed, parseRdata } from '../../dns/rdata.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'

/**
 * What must be published so that `live` becomes `desired`. Contents are compared by meaning, because a nameserver
 * returns some of them in a spelling of its own.
 */
export function differences(desired: PublishedRRset[], live: PublishedRRset[]): PublishedRRset[] {
  const present = new Map(live.map((rrset) => [place(rrset), rrset]))
  const changes: PublishedRRset[] = []
  for (const rrset of desired) {
    const other = present.get(place(rrset))
    present.delete(place(rrset))
    if (other === undefined || !equal(rrset, other)) changes.push(rrset)
  }
  const surplus = [...present.values()].map((rrset) => ({ ...rrset, records: [] }))
  return [...surplus, ...changes]
}

function place({ name, type }: PublishedRRset): string {
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
