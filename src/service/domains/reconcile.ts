import { setTimeout as sleep } from 'node:timers/promises'
import { Busy, NameserverFailure } from '../../errors.ts'
import {
  AUDIT_PAUSE,
  LEFTOVER_PAUSE,
  QUEUE_TIMEOUT,
  RECONCILE_PATIENCE,
  RECONCILE_PAUSE,
  RECONCILERS,
} from '../../limits.ts'
import type { Db } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import * as marks from '../../store/marks.ts'
import type { Mark } from '../../store/marks.ts'
import type { Domain, LockedDomain } from '../../store/domains.ts'
import type { System } from '../../system.ts'
import { registrable } from './availability.ts'
import { differences } from '../zone/differences.ts'
import { Claim } from '../zone/claim.ts'
import { deleteLeftovers, openPublication, type Publication } from '../zone/publication.ts'
import { runPeriodically, type BackgroundTask } from '../background.ts'
import { untilProbed } from '../probing.ts'
import { desiredZone, Zone } from '../zone/zone.ts'

/** Makes the marked zones that are due equal to the database and removes their marks. Returns how many it repaired. */
export async function reconcile(system: System): Promise<number> {
  const repaired = await Promise.all(Array.from({ length: RECONCILERS }, () => repairDue(system)))
  return repaired.reduce((sum, some) => sum + some, 0)
}

/** Repairs due zones one after the other. A zone that cannot be repaired now becomes due again later. */
async function repairDue(system: System, stopping?: AbortSignal): Promise<number> {
  let repaired = 0
  while (stopping?.aborted !== true) {
    const zone = await marks.takeDue(system.db)
    if (zone === undefined) break
    const isRepaired = await repair(system, zone).catch((error: unknown) => {
      system.log.error('zone not repaired', { zone, reason: (error as Error).message })
      return false
    })
    if (isRepaired) repaired++
  }
  return repaired
}

/** Repairs one marked zone, unless another process or a writer has its lock. Returns whether it did. */
async function repair(system: System, name: string): Promise<boolean> {
  let mark: Mark | undefined
  try {
    await using publication = await openPublication(system, 'repair')
    const domain = await lockIfFree(publication.trx, name)
    if (domain === 'busy') return false
    mark = await marks.claim(system.marksDb, name)
    if (mark === undefined) return false
    const isAsBefore = mark.settled && mark.isWatched && (await isServed(system, name, domain))
    if (!isAsBefore) await restore(publication, domain, new Claim(system, mark))
    await marks.settle(publication.trx, mark)
    await publication.commit()
    return !isAsBefore
  } catch (error) {
    if (mark !== undefined) await marks.keep(system.marksDb, mark, true, (error as Error).message)
    throw error
  }
}

/**
 * Deletes what a failed creation left of a zone, which may still be served. Waits for other workers on the zone.
 * @throws Busy after QUEUE_TIMEOUT, NameserverFailure
 */
export async function clearLeftovers(system: System, name: string): Promise<void> {
  const end = performance.now() + QUEUE_TIMEOUT
  while (await marks.isLeftover(system.db, name)) {
    if (performance.now() > end) throw Busy.waitedTooLong(`${name} is still being repaired`)
    if (!(await repair(system, name))) await sleep(LEFTOVER_PAUSE)
  }
}

/** Whether the nameserver has the domain's version, or no zone if there is no domain. */
async function isServed(system: System, name: string, domain: Domain | undefined): Promise<boolean> {
  return (await system.nameserver.serial(`${name}.`)) === domain?.version
}

/** Locks the domain; if it does not exist (undefined), locks its creation until the transaction ends. */
async function lockIfFree(trx: Db, name: string): Promise<LockedDomain | 'busy' | undefined> {
  const domain = await domains.lockIfFree(trx, name)
  if (domain !== undefined) return domain
  if (!(await domains.lockCreationIfFree(trx, registrable(name)))) return 'busy'
  // The domain may have been created just before the lock.
  return domains.lockIfFree(trx, name)
}

/** Makes a zone equal to the database; without domain, deletes what a creation of ours left. */
async function restore(publication: Publication, domain: LockedDomain | undefined, claim: Claim): Promise<void> {
  const { system } = publication
  const { zone, since: marked } = claim.mark
  await claim.wait()
  if (domain !== undefined) {
    const version = await new Zone(publication, domain).publishWhole(claim)
    if (await differs(system, { ...domain, version, rectify: true })) {
      throw new NameserverFailure('failed', 'the zone still differs after it was published')
    }
  } else if (!(await deleteLeftovers(system, claim))) system.log.warn('zone of somebody else left alone', { zone })
  if (!claim.mark.settled) system.log.warn('zone repaired', { zone, marked })
}

/**
 * Finds zones that differ from the database, marks them, and returns their names. Compares serials, with one request
 * for all zones; with `contents`, also the contents, with one request per zone.
 */
export async function audit(system: System, { contents }: { contents: boolean }): Promise<string[]> {
  const serials = await system.nameserver.serials()
  const suspects: string[] = []
  for (const { name, version } of await domains.versions(system.db)) {
    if (serials.get(`${name}.`) !== version || (contents && (await contentsDiffer(system, name)))) suspects.push(name)
  }
  await marks.setMany(system.db, suspects)
  return suspects
}

async function contentsDiffer(system: System, name: string): Promise<boolean> {
  const domain = await domains.find(system.db, name)
  return domain === undefined || differs(system, domain)
}

/** Whether the zone at the nameserver differs from the database. */
async function differs(system: System, domain: Domain): Promise<boolean> {
  const live = await system.nameserver.read(`${domain.name}.`)
  if (live?.complete !== true || !live.configured || live.serial !== domain.version || live.rectify !== domain.rectify)
    return true
  return (await differences(await desiredZone(system.db, domain), live.rrsets)).length > 0
}

/**
 * Audits, and repairs all marked zones now.
 * @returns the zones that were marked, and the marks that remain of these because repair failed
 */
export async function reconcileAll(
  system: System,
  { contents }: { contents: boolean },
): Promise<{ doubtful: string[]; left: Mark[] }> {
  await audit(system, { contents })
  const doubtful = (await marks.list(system.db)).map(({ zone }) => zone)
  await marks.hasten(system.db)
  for (let patience = RECONCILE_PATIENCE; ; patience--) {
    await reconcile(system)
    const left = await marks.list(system.db, doubtful)
    // A zone without an attempt is locked by a writer or by another process that reconciles.
    if (patience === 0 || left.every(({ attempts }) => attempts > 0)) return { doubtful, left }
    await sleep(RECONCILE_PAUSE)
  }
}

/**
 * Probes PowerDNS until that succeeds. Then repairs marked zones and compares serials periodically, until stopped. The
 * first comparison finds what happened while no process of ours ran.
 */
export function keepReconciled(system: System): BackgroundTask {
  const stopping = new AbortController()
  const { signal } = stopping
  const probed = untilProbed(system, signal)
  const run = async (work: () => Promise<unknown>, pause: number) => {
    await probed
    await runPeriodically(system, 'reconciliation', work, pause, signal)
  }
  const loops = Array.from({ length: RECONCILERS }, () => run(() => repairDue(system, signal), RECONCILE_PAUSE))
  loops.push(run(() => audit(system, { contents: false }), AUDIT_PAUSE))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
