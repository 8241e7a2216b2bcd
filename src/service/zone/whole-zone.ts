import { absolute } from '../../dns/names.ts'
import { requestSize } from '../../limits.ts'
import type {
  Lease,
  Nameserver,
  NewZone,
  PublishedRRset,
  PublishedZone,
  SigningKey,
} from '../../nameserver/nameserver.ts'
import { transaction } from '../../store/database.ts'
import type { Domain, LockedDomain } from '../../store/domains/domains.ts'
import { keysOf, retired, type StoredKey } from '../../store/domains/keys.ts'
import { list } from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { areSame, keysFor, openKeys, storeKeys } from '../secrets/signing-keys.ts'
import { transfersOf } from '../secrets/transfer-keys.ts'
import { contentsOf } from './cds.ts'
import { type Claim, nextVersion } from './claim.ts'
import { type Difference, differences, toPublish } from './differences.ts'
import type { Publication } from './publication.ts'

/**
 * Makes the served zone, whatever its state, equal to the keys and RRsets of a domain; returns its version, and the
 * differences if the zone existed. A zone that has to be created gets its former keys; new ones only if none were stored.
 * Sends nothing if contents and serial already match and the mark's serial is not above the domain's. If the nameserver
 * should still apply an earlier request, its serial will differ from the domain's version and so reveal it.
 */
export async function equalise(
  { system, trx }: Pick<Publication, 'system' | 'trx'>,
  claim: Claim,
  domain: Pick<LockedDomain, 'id' | 'name' | 'denial' | 'version' | 'sent'>,
  rrsets: PublishedRRset[],
): Promise<{ version: number; differences: Difference[] }> {
  const zone = absolute(domain.name)
  const transfers = await transfersOf(system, trx, domain)
  const live = await system.nameserver.read(zone, transfers)
  const tried = claim.mark.version ?? 0
  const version = nextVersion(system, Math.max(domain.sent, tried, live?.serial ?? 0))
  // On a connection of its own: if this transaction fails, the keys stay.
  const served = live ?? { keys: [], serial: undefined }
  const { keys, foreign } = await keysFor(system, system.pools.marks, domain, served, claim.mark.doubted)
  const { ownCds, rrsets: desired } = contentsOf(domain.name, keys, rrsets)

  if (live === undefined || !isUsable(live, foreign)) {
    await claim.note(version, requestSize(desired))
    if (live !== undefined) await system.nameserver.deleteZone(zone, claim)
    const update = { zone, denial: domain.denial, version, rrsets: desired, transfers, ownCds }
    const signing = await system.nameserver.createZone(update, openKeys(system, domain.name, keys), claim)
    if (keys.length === 0) await storeKeys(system, system.pools.marks, domain, signing, { only: true })
    return { version, differences: [] }
  }
  const wanted = { denial: domain.denial, version: domain.version, rectify: true, keys, ownCds, rrsets: desired }
  const { found, isReady, isEqual } = await compare(live, wanted)
  if (isEqual && tried <= domain.version) return { version: domain.version, differences: found }
  const gone = isReady ? [] : [...(await retired(trx, domain.id)), ...foreign]
  const sent = toSend(system.nameserver, found, desired)
  await claim.note(version, requestSize(sent))
  const target = { zone, denial: domain.denial, version, rrsets: sent, transfers, ownCds }
  const signing = isReady ? undefined : { keys: openKeys(system, domain.name, keys), gone }
  await amend(system.nameserver, live, target, signing, claim)
  return { version, differences: found }
}

/**
 * Reports whether a zone can be amended. One without any key of its domain is that of a former one of this name, whose
 * other settings need not be known.
 * @param foreign its keys that are none of the domain's
 */
export function isUsable({ complete, keys }: PublishedZone, foreign: string[]): boolean {
  return complete && keys.some(({ dnskey }) => !foreign.includes(dnskey))
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

/** What the zone of a domain should be, by the database. */
export interface WantedZone extends NewZone {
  keys: StoredKey[]
  /** As `PublishedZone` has it, when nothing has to be sent. */
  rectify: boolean
}

/** Reads what the zone of a domain should be. Its RRsets may take long, so they are in a transaction (limits.ts). */
export async function wantedZone(system: System, domain: Domain): Promise<WantedZone> {
  const { db } = system
  const { id, name, denial, version, rectify } = domain
  const [keys, transfers, rrsets] = await Promise.all([
    keysOf(db, id),
    transfersOf(system, db, domain),
    transaction(db, (trx) => list(trx, id)),
  ])
  return { zone: absolute(name), denial, version, rectify, transfers, keys, ...contentsOf(name, keys, rrsets) }
}

/**
 * Compares a complete zone with what it should be. It is ready if it has the keys, and the settings that a publication of
 * the whole zone needs; it is equal if nothing has to be sent.
 */
export async function compare(
  live: PublishedZone,
  { denial, version, rectify, keys, ownCds, rrsets }: Omit<WantedZone, 'zone' | 'transfers'>,
): Promise<{ found: Difference[]; isReady: boolean; isEqual: boolean }> {
  const isSetUp = live.configured && live.denial === denial && live.ownCds === ownCds && areSame(keys, live.keys)
  const found = await differences(rrsets, live.rrsets)
  const isEqual = isSetUp && live.rectify === rectify && live.serial === version && found.length === 0
  return { found, isReady: isSetUp && live.rectify, isEqual }
}
