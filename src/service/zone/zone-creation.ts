import { absolute } from '../../dns/names.ts'
import { NameserverFailure } from '../../errors.ts'
import { requestSize } from '../../limits.ts'
import type { KeyState, SigningKey, Transfers } from '../../nameserver/nameserver.ts'
import { allOf } from '../../store/connections/failures.ts'
import { sendAlong } from '../../store/connections/prepared-query.ts'
import { keysOf, type StoredKey } from '../../store/domains/keys.ts'
import * as history from '../../store/zone/history.ts'
import type { RRsetState } from '../../store/zone/rrsets.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { openKeys, storeKeys } from '../secrets/signing-keys.ts'
import { transfersOf } from '../secrets/transfer-keys.ts'
import { contentsOf } from './cds.ts'
import { sizeOf } from './changes.ts'
import type { Claim } from './claim.ts'
import { creations, draft } from './journal.ts'
import type { Zone } from './zone.ts'

/**
 * Stores the first RRsets of a new domain, or of one that comes back, creates its zone, and stores its keys. One that
 * comes back has its former keys.
 * @returns its keys
 * @throws Unavailable, NameserverFailure of kind "conflict" if another program creates the zone meanwhile
 */
export async function createZone(zone: Zone, written: RRsetState[], event: 'return' | null): Promise<KeyState[]> {
  const { author, domain, publication } = zone
  const { system, trx } = publication
  const { id, version, published: now } = domain
  const entry = await draft(system, author, { version, now, event }, await creations(written))
  const outcome = { removed: [], written, growth: sizeOf(written), historyOctets: entry.octets }
  const storing = sendAlong(
    allOf([
      keysOf(trx, id),
      transfersOf(system, trx, domain),
      rrsets.apply(trx, id, { ...outcome, version, rectify: true, now }),
      history.add(trx, domain, entry),
    ]),
  )
  try {
    const claim = await publication.mark(domain.name, { version, size: requestSize(written) })
    return await publication.send(claim, async () => {
      const [old, transfers] = await storing
      const signing = await sendZone(zone, claim, written, old, transfers)
      claim.begun = true
      publication.announceAtCommit(domain, version)
      if (old.length === 0) void sendAlong(storeKeys(system, trx, domain, signing, { only: true }))
      return old.length === 0 ? signing : old
    })
  } finally {
    // Storing must end before the transaction: otherwise its statements would follow the rollback.
    await storing.catch(() => undefined)
  }
}

/** @param old the former keys of the zone */
async function sendZone(
  { domain, publication: { system } }: Zone,
  claim: Claim,
  written: RRsetState[],
  old: StoredKey[],
  transfers: Transfers | undefined,
): Promise<SigningKey[]> {
  const { name, denial, version } = domain
  // The name was marked before: an earlier creation may have left a zone.
  if (claim.begun) {
    if (!(await deleteLeftovers(system, claim)))
      throw new NameserverFailure('conflict', 'the zone already exists at the nameserver')
    await claim.note(version, requestSize(written))
  }
  const update = { zone: absolute(name), denial, version, transfers, ...contentsOf(name, old, written) }
  return system.nameserver.createZone(update, openKeys(system, name, old), claim).catch((error: unknown) => {
    // An earlier creation was applied just now: repair deletes its zone.
    if (claim.begun && error instanceof NameserverFailure && error.kind === 'conflict')
      throw new NameserverFailure('failed', 'the zone was made meanwhile', { cause: error })
    throw error
  })
}

/**
 * Deletes the zone that a failed creation left at the nameserver: one without SOA, or with a serial that was sent since
 * the zone is marked, or the serial before. Several creations may have failed, and an earlier one may have been applied
 * late. A doubted one is that of a deleted domain. Any other zone is foreign, and stays. Returns true if the name is free.
 */
export async function deleteLeftovers(system: System, claim: Claim): Promise<boolean> {
  const { mark } = claim
  const zone = absolute(mark.zone)
  const live = await system.nameserver.read(zone)
  if (live === undefined) return true
  const { serial } = live
  const { first, version: last } = mark
  const isOurs =
    mark.doubted || serial === undefined || (first !== null && last !== null && first - 1 <= serial && serial <= last)
  if (!isOurs) return false
  // Not the served serial: it would show a creation as applied, while this deletion may still be applied late.
  const version = serial === undefined ? last : Math.max(serial, last ?? 0) + 1
  await claim.note(version, live.rrsets.length)
  await system.nameserver.deleteZone(zone, claim)
  return true
}
