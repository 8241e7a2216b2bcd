import { Malformed, parseRdata } from '../../dns/rdata.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import type {
  Lease,
  Nameserver,
  NewZone,
  PublishedRRset,
  PublishedZone,
  SigningKey,
} from '../../nameserver/nameserver.ts'
import { areSame } from '../secrets/signing-keys.ts'
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

/** Returns the RRsets that make a zone equal to the desired ones, from which it differs so. */
export function toSend(nameserver: Nameserver, found: Difference[], desired: PublishedRRset[]): PublishedRRset[] {
  // The nameserver may not have rectified long RRsets since they were stored: others store them, too.
  const differing = new Set(found.map(({ after }) => after))
  const long = desired.filter((rrset) => nameserver.mustRectify(rrset) && !differing.has(rrset))
  return [...found.map(toPublish), ...long]
}

/**
 * Changes a complete zone.
 * @param signing its keys, and the public halves of those that it loses; undefined: it is set up
 */
export async function amend(
  nameserver: Nameserver,
  live: PublishedZone,
  { ownCds, transfers, ...update }: NewZone,
  signing: { keys: SigningKey[]; gone: string[] } | undefined,
  lease: Lease,
): Promise<void> {
  const { zone, denial } = update
  if (signing !== undefined) {
    const announce = async (isOwn: boolean) => {
      if (isOwn === ownCds && isOwn !== live.ownCds) await nameserver.setOwnCds(zone, isOwn, lease)
    }
    // PowerDNS announces every key that it publishes, unless told not to: then a parent could enter its DS too early.
    await announce(true)
    await nameserver.setKeys(zone, signing.keys, signing.gone, lease)
    await announce(false)
    await nameserver.configure(zone, denial, transfers, lease)
  }
  await nameserver.publish(update, true, lease)
}

/** Reports whether a zone has the keys, and the settings that a publication of the whole zone needs. */
export function isSetUp(live: PublishedZone, wanted: Pick<PublishedZone, 'denial' | 'keys' | 'ownCds'>): boolean {
  const { denial, keys, ownCds } = wanted
  return live.configured && live.rectify && live.denial === denial && live.ownCds === ownCds && areSame(keys, live.keys)
}
