import { Malformed, parseRdata } from '../../dns/rdata.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import type { Step } from './journal.ts'

/** An RRset that differs: as it is served, and as it should be; undefined: not at all. */
export interface Difference extends Step {
  before: PublishedRRset | undefined
  after: PublishedRRset | undefined
}

/** Compares `live` with `desired`, removals first. Compares contents by meaning: PowerDNS respells some. */
export async function differences(desired: PublishedRRset[], live: PublishedRRset[]): Promise<Difference[]> {
  return inSlices(compare(desired, live))
}

function* compare(desired: PublishedRRset[], live: PublishedRRset[]): Work<Difference[]> {
  const surplus = new Map<string, PublishedRRset>()
  for (const rrset of live) {
    surplus.set(servedKey(rrset), rrset)
    yield
  }
  const changes: Difference[] = []
  for (const after of desired) {
    const { subname, type } = after
    const before = surplus.get(servedKey(after))
    surplus.delete(servedKey(after))
    if (before === undefined || !(yield* equal(after, before))) changes.push({ subname, type, before, after })
    yield
  }
  const removals = [...surplus.values()].map((before) => {
    return { subname: before.subname, type: before.type, before, after: undefined }
  })
  return [...removals, ...changes]
}

/** Returns the RRset that a change leaves at the nameserver; without records, if the change removes it. */
export function toPublish({ before, after }: Pick<Difference, 'before' | 'after'>): PublishedRRset {
  return after ?? { ...before!, records: [] }
}

function servedKey({ subname, type }: PublishedRRset): string {
  return `${type} ${subname.toLowerCase()}`
}

/** Compares two RRsets. Yields after each record that it parses. */
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

/** Returns the same key for contents of equal meaning. A content that we cannot parse equals none of ours. */
function key(type: string, content: string): string {
  try {
    return parseRdata(type, content).key
  } catch (error) {
    if (error instanceof Malformed) return `malformed ${content}`
    throw error
  }
}
