import { setTimeout as sleep } from 'node:timers/promises'
import type { Name } from '../../dns/names.ts'
import { type FailureKind, NameserverFailure } from '../../errors.ts'
import { mapInSlices } from '../../flow/slices.ts'
import { answerTime, COLLECTION_ITEMS, octetsOf, requestSize } from '../../limits.ts'
import { type Denial, type Lease, type NewZone, NSEC, type PublishedRRset, type SigningKey } from '../nameserver.ts'
import { type Api, flush, zonePath } from './api.ts'
import { exportKeys, importKey } from './cryptokeys.ts'
import { setOwnCds } from './metadata.ts'
import { staleNsec3 } from './nsec3.ts'
import { spell, type Spelling } from './spelling.ts'
import { allow, ensureKey } from './transfers.ts'
import type { ZoneSettings } from './zone-settings.ts'

// Requests that change a zone. One that fails may be half done.

/** The number of attempts at a deletion. */
const DELETIONS = 5

/** Deletes a zone, if it exists. @throws NameserverFailure */
export async function deleteZone(api: Api, zone: Name, lease?: Lease): Promise<void> {
  // A deletion that failed in any way may be half done: only "absent" is certain.
  for (let left = DELETIONS; ; left--) {
    const deletion = api.call('DELETE', zonePath(zone), answerTime(0), undefined, lease)
    try {
      const kinds: FailureKind[] = left === DELETIONS ? [] : ['unreachable']
      await orHalfDone(deletion, 'refused', 'conflict', ...kinds)
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

/** Where a zone is created, and how. */
interface Place {
  api: Api
  settings: ZoneSettings
  spelling: Spelling
}

/**
 * Creates a zone with its keys, and returns these. PowerDNS makes none if its cache has the key of a deleted zone of this
 * name (powerdns.md §2.3): then the zone is deleted, which clears the cache, and created again.
 * @throws NameserverFailure
 */
export async function createZone(
  place: Place,
  contents: NewZone,
  keys: SigningKey[],
  lease: Lease,
): Promise<SigningKey[]> {
  for (let left = CREATIONS; left > 0; left--) {
    const made = await create(place, contents, keys, lease)
    if (made.length > 0) return made
    await deleteZone(place.api, contents.zone, lease)
  }
  throw new NameserverFailure('failed', `PowerDNS makes no key for ${contents.zone}`)
}

async function create(place: Place, contents: NewZone, keys: SigningKey[], lease: Lease): Promise<SigningKey[]> {
  const { api, settings } = place
  const { zone, denial, version, rrsets, transfers } = contents
  if (transfers?.key !== undefined) await ensureKey(api, transfers.key)
  const isSimple = keys.length === 0 && !contents.ownCds && batchesOf(rrsets).length === 1
  if (!isSimple) await build(place, contents, keys, lease)
  else await post(place, zone, settings.of(denial, transfers), [settings.soa(zone, version), ...rrsets], lease)
  const finishing = Promise.all([
    exportKeys(api, zone),
    flush(api, zone),
    transfers && allow(api, zone, transfers.addresses, lease),
  ])
  const [exported] = await orHalfDone(finishing, 'refused', 'absent', 'unreachable')
  return exported
}

async function post(
  { api, spelling, settings: { options } }: Place,
  zone: Name,
  settings: object,
  rrsets: PublishedRRset[],
  lease: Lease,
): Promise<void> {
  const head = JSON.stringify({ name: zone, nameservers: [], ...settings })
  const body = `${head.slice(0, -1)},"rrsets":${await replacements(zone, rrsets, spelling)}}`
  const creation = api.call('POST', '/zones?rrsets=false', answerTime(requestSize(rrsets)), body, lease)
  // PowerDNS may have created part of a zone that it rejects (powerdns.md §2.3).
  await orHalfDone(creation, 'refused').catch(async (error: unknown) => {
    // PowerDNS rejects a key that it does not have: it may have lost all its data. Repair tries again.
    if (options.transferKey !== undefined) await ensureKey(api, options.transferKey).catch(() => undefined)
    throw error
  })
}

/**
 * Creates a zone in several requests. It gets its SOA in the last one, because PowerDNS does not serve a zone without
 * SOA: queries never see an incomplete or unsigned zone. Only a secondary zone can be created without SOA.
 * @param keys none: PowerDNS makes one
 */
async function build(place: Place, contents: NewZone, keys: SigningKey[], lease: Lease): Promise<void> {
  const { api, settings, spelling } = place
  const { zone, denial, version, rrsets, transfers } = contents
  await post(place, zone, { kind: 'Slave' }, [], lease)
  const building = async () => {
    for (const key of keys) await importKey(api, zone, key, lease)
    if (contents.ownCds) await setOwnCds(api, zone, true, lease)
    // PowerDNS cannot rectify a zone without SOA. It makes a key if the zone has none.
    const first = JSON.stringify({ ...settings.of(denial, transfers), api_rectify: false })
    await api.call('PUT', zonePath(zone), answerTime(0), first, lease)
    // The last request rectifies the zone, so it has all long RRsets.
    const batches = batchesOf(rrsets.filter((rrset) => !isLong(rrset)))
    const last = [...batches.pop()!, ...rrsets.filter(isLong), settings.soa(zone, version)]
    for (const batch of batches)
      await patch(api, zone, await changesOf(zone, denial, batch, false, spelling), requestSize(batch), lease)
    // Each of these may rectify the whole zone, which takes long with an SQL backend.
    const changes = await changesOf(zone, denial, last, true, spelling)
    const size = requestSize(rrsets)
    await api.call('PUT', zonePath(zone), answerTime(size), JSON.stringify({ api_rectify: true }), lease)
    await patch(api, zone, changes, size, lease)
  }
  await orHalfDone(building(), 'refused', 'absent', 'unreachable')
}

/** Changes a zone in one request. @param size in RRsets */
export async function patch(api: Api, zone: Name, changes: string, size: number, lease: Lease): Promise<void> {
  await api.call('PATCH', zonePath(zone), answerTime(size), changes, lease)
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
    const octets = octetsOf([rrset])
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
async function replacements(
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
