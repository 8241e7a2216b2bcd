import { setTimeout as sleep } from 'node:timers/promises'
import type { Name } from '../../dns/names.ts'
import { type FailureKind, NameserverFailure } from '../../errors.ts'
import { mapInSlices } from '../../flow/slices.ts'
import { answerTime, COLLECTION_ITEMS } from '../../limits.ts'
import { type Denial, type Lease, NSEC, type PublishedRRset } from '../nameserver.ts'
import { type Api, zonePath } from './api.ts'
import { staleNsec3 } from './nsec3.ts'
import { spell, type Spelling } from './spelling.ts'

// Requests that change a zone. One that fails may be half done.

/** The number of attempts at a deletion. */
const DELETIONS = 5

/** Deletes a zone, if it exists. @throws NameserverFailure */
export async function deleteZone(api: Api, zone: Name, lease?: Lease): Promise<void> {
  // A deletion that failed in any way may be half done: only "absent" is certain.
  for (let left = DELETIONS; ; left--) {
    const deletion = api.call('DELETE', zonePath(zone), answerTime(0), undefined, lease)
    try {
      await (left === DELETIONS
        ? orHalfDone(deletion, 'refused', 'conflict')
        : orHalfDone(deletion, 'refused', 'conflict', 'unreachable'))
      break
    } catch (error) {
      const kind = error instanceof NameserverFailure ? error.kind : undefined
      if (kind === 'absent') break
      if (kind !== 'failed' || left === 1) throw error
      await sleep(50)
    }
  }
}

/** The number of attempts at a zone with a key. */
const CREATIONS = 3

/**
 * Creates a zone with its keys, and returns these. PowerDNS makes none if its cache has the key of a deleted zone of this
 * name (powerdns.md §2.3): then the zone is deleted, which clears the cache, and created again.
 * @throws NameserverFailure
 */
export async function createSigned<Key>(api: Api, zone: Name, lease: Lease, create: () => Promise<Key[]>) {
  for (let left = CREATIONS; left > 0; left--) {
    const keys = await create()
    if (keys.length > 0) return keys
    await deleteZone(api, zone, lease)
  }
  throw new NameserverFailure('failed', `PowerDNS makes no key for ${zone}`)
}

/** Turns failures of these kinds into "failed", because part of the request may have been applied. */
export async function orHalfDone<T>(answer: Promise<T>, ...kinds: FailureKind[]): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof NameserverFailure) || !kinds.includes(error.kind)) throw error
    throw new NameserverFailure('failed', error.message, { cause: error })
  }
}

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

/**
 * The octets of the contents in a request. PowerDNS takes 64 MiB in all, but its time grows faster than the request: for
 * 6 MB it needs less than a second, for 17 MB up to ten.
 */
const BATCH_OCTETS = 4 * 2 ** 20

/**
 * Splits the RRsets into batches, of which each gets a request: at least one, which may be empty. PowerDNS applies
 * changes in order and checks each against those before it, so removals come first. Then all long RRsets, in one batch:
 * they must be rectified in the transaction that stores them (`isLong`).
 * @param isAtomic true for as few batches as possible: the body of a user's request is one
 */
export function batchesOf(rrsets: PublishedRRset[], isAtomic = false): PublishedRRset[][] {
  const batches: PublishedRRset[][] = [[]]
  const most = isAtomic ? 4 * BATCH_OCTETS : BATCH_OCTETS
  let left = most
  const short = rrsets.filter((rrset) => !isRemoval(rrset) && !isLong(rrset))
  for (const rrset of [...rrsets.filter(isRemoval), ...rrsets.filter(isLong), ...short]) {
    const octets = rrset.records.reduce((sum, content) => sum + content.length, 0)
    if (batches.at(-1)!.length === COLLECTION_ITEMS || (octets > left && !isLong(rrset))) {
      batches.push([])
      left = most
    }
    batches.at(-1)!.push(rrset)
    left -= octets
  }
  return batches
}

/** Returns the body of a request that changes a batch. */
export async function changesOf(
  zone: Name,
  denial: Denial,
  batch: PublishedRRset[],
  rectify: boolean,
  spelling: Spelling,
): Promise<string> {
  const removed = batch.filter(isRemoval).map(({ subname }) => nameIn(zone, subname))
  const stale = rectify || denial === NSEC ? staleNsec3(zone, denial, removed) : []
  return `{"rrsets":${await replacements(zone, batch, spelling, stale)}}`
}

/**
 * Returns changes as JSON: always the complete new state of an RRset, so repeating them is harmless. PowerDNS also
 * wants a TTL for removals.
 */
export async function replacements(
  zone: Name,
  rrsets: PublishedRRset[],
  spelling: Spelling,
  others: object[] = [],
): Promise<string> {
  const changes = await mapInSlices(rrsets, ({ subname, type, ttl, records: contents }) => {
    const records = contents.map((content) => ({ content: spell(type, content, spelling), disabled: false }))
    return JSON.stringify({ name: nameIn(zone, subname), type, ttl, changetype: 'REPLACE', records })
  })
  const more = await mapInSlices(others, (other) => JSON.stringify(other))
  return `[${[...changes, ...more].join()}]`
}

/** The absolute name of an RRset. */
function nameIn(zone: Name, subname: string): Name {
  return subname === '' ? zone : `${subname}.${zone}`
}

function isRemoval({ records }: PublishedRRset): boolean {
  return records.length === 0
}
