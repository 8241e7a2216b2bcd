import { type KeyState, type PublishedRRset, WAITS } from '../../nameserver/nameserver.ts'
import type { Db } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { RRsetKey } from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { later } from '../../time.ts'
import { delegationsOf, isSecureEntryPoint } from '../secrets/signing-keys.ts'
import { add } from '../work/work.ts'
import type { Change } from './changes.ts'
import { differences, toPublish } from './differences.ts'

// What a zone tells its parent about its DS: the CDS and CDNSKEY at its apex (RFC 7344, 8078; contract §8.9).

const TYPES = ['CDS', 'CDNSKEY']

/** The records that ask the parent to remove the DS (RFC 8078 §4). */
export const REMOVAL: Record<string, string> = { CDS: '0 0 0 00', CDNSKEY: '0 3 0 AA==' }

/** A key, and whether the parent shall have its DS. */
export type AnnouncedKey = KeyState & { announced: boolean }

/** The contents that a zone should have. */
export interface Contents {
  /** True if the nameserver adds no CDS and CDNSKEY to `rrsets`. */
  ownCds: boolean
  rrsets: PublishedRRset[]
}

/** The kind of work that tells a parent that the CDS of a domain have changed. */
export const NOTIFY_PARENT = 'notify-parent'

/** Seconds after which most secondaries have a change of CDS. */
const NOTIFICATION_DELAY = 10

/** Has the parents of these domains told, once this transaction commits, that their CDS have changed (RFC 9859). */
export async function tellParents(system: System, trx: Db, domains: Pick<Domain, 'name' | 'ownerId'>[]): Promise<void> {
  const due = later(system.now(), NOTIFICATION_DELAY)
  await add(
    system,
    trx,
    ...domains.map(({ name, ownerId }) => ({ kind: NOTIFY_PARENT, subject: name, accountId: ownerId, due })),
  )
}

/** Reports whether an RRset tells the parent about the DS of the zone. */
export function isAnnouncement({ subname, type }: RRsetKey): boolean {
  return subname === '' && TYPES.includes(type)
}

/**
 * Returns the contents of a zone with these RRsets. The nameserver announces each published key. If that is not what
 * the parent shall do, because a key is not to be announced or all DS shall go, we announce the right ones instead.
 */
export function contentsOf(name: string, keys: AnnouncedKey[], rrsets: PublishedRRset[]): Contents {
  const isWhole = entryPointsOf(keys).every(({ announced }) => announced)
  if (isWhole && !rrsets.some(asksForRemoval)) return { ownCds: false, rrsets }
  const others = rrsets.filter((rrset) => !isAnnouncement(rrset))
  return { ownCds: true, rrsets: [...others, ...announcementsOf(name, keys, rrsets)] }
}

/** Returns the CDS and CDNSKEY at the apex of a zone with these RRsets, whoever announces them. */
export function announcementsOf(name: string, keys: AnnouncedKey[], rrsets: PublishedRRset[]): PublishedRRset[] {
  const added = rrsets.filter(isAnnouncement)
  const removals = added.filter(asksForRemoval)
  // A parent ignores the wish to remove the DS if it does not stand alone.
  if (removals.length > 0) return removals.map(({ type }) => announcement(type, [REMOVAL[type]!]))
  const entryPoints = entryPointsOf(keys)
  return TYPES.map((type) => {
    return announcement(type, [...generated(name, type, entryPoints), ...contents(added, type)])
  }).filter(({ records }) => records.length > 0)
}

/** Reports whether an RRset asks the parent to remove the DS. */
export function asksForRemoval(rrset: PublishedRRset): boolean {
  return isAnnouncement(rrset) && rrset.records.includes(REMOVAL[rrset.type]!)
}

/** Returns the published keys whose DS may be at the parent. */
function entryPointsOf(keys: AnnouncedKey[]): AnnouncedKey[] {
  return keys.filter(({ dnskey, published }) => published && isSecureEntryPoint(dnskey))
}

/**
 * Returns the RRsets that a write replaces in DNS, and the new value of `ownCds` if it changes.
 * @param keys read only if the changes have an announcement
 * @param current the RRsets at the subnames of the write
 */
export async function servedChanges(
  name: string,
  keys: AnnouncedKey[],
  current: PublishedRRset[],
  changes: Change[],
): Promise<{ rrsets: PublishedRRset[]; ownCds: boolean | undefined }> {
  const written = changes.filter(isAnnouncement)
  if (written.length === 0) return { rrsets: changes.map(toPublish), ownCds: undefined }
  const former = current.filter(isAnnouncement)
  const left = former.filter(({ type }) => !written.some((change) => change.type === type))
  const before = contentsOf(name, keys, former)
  const after = contentsOf(name, keys, [...left, ...written.flatMap((change) => change.after ?? [])])
  const found = await differences(after.rrsets, before.rrsets)
  const others = changes.filter((change) => !isAnnouncement(change))
  return {
    rrsets: [...others, ...found].map(toPublish),
    ownCds: after.ownCds === before.ownCds ? undefined : after.ownCds,
  }
}

function generated(name: string, type: string, keys: AnnouncedKey[]): string[] {
  const announced = keys.filter((key) => key.announced).map(({ dnskey }) => dnskey)
  return type === 'CDS' ? announced.flatMap((dnskey) => delegationsOf(name, dnskey)) : announced
}

function contents(added: PublishedRRset[], type: string): string[] {
  return added.filter((rrset) => rrset.type === type).flatMap(({ records }) => records)
}

function announcement(type: string, records: string[]): PublishedRRset {
  return { subname: '', type, ttl: WAITS.dnskeyTtl, records: [...new Set(records)] }
}
