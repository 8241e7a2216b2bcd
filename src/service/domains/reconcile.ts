import { setTimeout as sleep } from 'node:timers/promises'
import { NameserverFailure } from '../../errors.ts'
import { AUDIT_PAUSE, RECONCILE_PATIENCE, RECONCILE_PAUSE, RECONCILERS } from '../../limits.ts'
import type { Db } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import * as marks from '../../store/marks.ts'
import type { Mark } from '../../store/marks.ts'
import type { Domain } from '../../store/domains.ts'
import * as rrsets from '../../store/rrsets.ts'
import { mapInSlices } from '../../slices.ts'
import type { System } from '../../system.ts'
import { registrable } from './availability.ts'
import { differences } from '../zone/differences.ts'
import { clearAway, openPublication, settle } from '../zone/publication.ts'
import { runPeriodically, type BackgroundTask } from '../background.ts'
import { published, Zone } from '../zone/zone.ts'

/** Makes the marked zones that are due equal to the database, and takes their marks away. Returns how many it repaired. */
export async function reconcile(system: System): Promise<number> {
  const repaired = await Promise.all(Array.from({ length: RECONCILERS }, () => repairDue(system)))
  return repaired.reduce((sum, some) => sum + some, 0)
}

/** Repairs one zone after the other, until none is due: what is busy or postponed has its own next time. */
async function repairDue(system: System, stopping?: AbortSignal): Promise<number> {
  let repaired = 0
  while (stopping?.aborted !== true) {
    const zone = await marks.takeDue(system.db)
    if (zone === undefined) break
    if (await attempt(system, zone)) repaired++
  }
  return repaired
}

/** Whether the zone was repaired; if it cannot be now, it is tried again later. */
async function attempt(system: System, zone: string): Promise<boolean> {
  try {
    return await repair(system, zone)
  } catch (error) {
    system.log.error('zone not repaired', { zone, reason: (error as Error).message })
    return false
  }
}

/** Repairs one marked zone, unless another process or a writer has its lock. */
async function repair(system: System, name: string): Promise<boolean> {
  let mark: Mark | undefined
  try {
    await using publication = await openPublication(system, `repair ${name}`)
    const domain = await lockIfFree(publication.trx, name)
    if (domain === 'busy') return false
    mark = await marks.claim(system.marksDb, name)
    if (mark === undefined) return false
    await settle(system, mark)
    if (domain !== undefined) await restore(new Zone(publication, domain, {}), mark)
    else if (!(await clearAway(system, mark))) system.log.warn('zone of somebody else left alone', { zone: name })
    await marks.remove(publication.trx, mark)
    await publication.commit()
    system.log.warn('zone repaired', { zone: name, marked: mark.since })
    return true
  } catch (error) {
    if (mark !== undefined) await marks.keep(system.marksDb, mark, true, (error as Error).message)
    throw error
  }
}

/** The domain, locked, or the right to create it: then there is none until the transaction ends. */
async function lockIfFree(trx: Db, name: string): Promise<Domain | 'busy' | undefined> {
  const domain = await domains.lockIfFree(trx, name)
  if (domain !== undefined) return domain
  if (!(await domains.lockCreationIfFree(trx, registrable(name)))) return 'busy'
  // It may have been created just before.
  return domains.lockIfFree(trx, name)
}

async function restore(zone: Zone, mark: Mark): Promise<void> {
  const version = await zone.publishWhole(mark)
  if (await differs(zone.publication.system, { ...zone.domain, version, rectify: true })) {
    throw new NameserverFailure('failed', 'the zone still differs after it was published')
  }
}

/**
 * Looks for zones that differ from the database although no mark says so, marks them, and returns their names: by their
 * serials, one request for all; with `contents`, also by what they hold, one request each.
 */
export async function audit(system: System, { contents }: { contents: boolean }): Promise<string[]> {
  const serials = await system.nameserver.serials()
  const suspects: string[] = []
  for (const { name, version } of await domains.versions(system.db)) {
    if (serials.get(`${name}.`) !== version || (contents && (await isOff(system, name)))) suspects.push(name)
  }
  await marks.setMany(system.db, suspects)
  return suspects
}

async function isOff(system: System, name: string): Promise<boolean> {
  const domain = await domains.find(system.db, name)
  return domain === undefined || differs(system, domain)
}

/** Whether the nameserver has anything else than the database. */
async function differs(system: System, domain: Domain): Promise<boolean> {
  const live = await system.nameserver.read(`${domain.name}.`)
  if (live?.complete !== true || !live.configured || live.serial !== domain.version || live.rectify !== domain.rectify)
    return true
  const stored = await rrsets.list(system.db, domain.id)
  const desired = await mapInSlices(stored, (rrset) => published(domain, rrset))
  return (await differences(desired, live.rrsets)).length > 0
}

/**
 * Looks for differences, and repairs them and whatever else is marked, now.
 * @returns the zones that were in doubt, and the marks of those among them that could not be repaired
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
    // What was not tried is in the hands of others: a writer, another process that reconciles.
    if (patience === 0 || left.every(({ attempts }) => attempts > 0)) return { doubtful, left }
    await sleep(RECONCILE_PAUSE)
  }
}

/**
 * Reconciles now and then, until stopped: repairs what is marked, and looks for differences by serial, at first for
 * what happened while no process of ours ran.
 */
export function keepReconciled(system: System): BackgroundTask {
  const stopping = new AbortController()
  const { signal } = stopping
  const repair = () => repairDue(system, signal)
  const often = (work: () => Promise<unknown>, pause: number) =>
    runPeriodically(system, 'reconciliation', work, pause, signal)
  const loops = Array.from({ length: RECONCILERS }, () => often(repair, RECONCILE_PAUSE))
  loops.push(often(() => audit(system, { contents: false }), AUDIT_PAUSE))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
