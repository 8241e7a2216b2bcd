import { setTimeout as sleep } from 'node:timers/promises'
import { absolute } from '../../dns/names.ts'
import { Busy, NameserverFailure, Unavailable } from '../../errors.ts'
import { type BackgroundTask, runPeriodically } from '../../flow/background.ts'
import { QUEUE_TIMEOUT } from '../../limits.ts'
import type { Db } from '../../store/database.ts'
import type { Domain, LockedDomain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import * as keys from '../../store/domains/keys.ts'
import { lockCreationIfFree } from '../../store/domains/relatives.ts'
import type { Mark } from '../../store/zone/marks.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { after } from '../../time.ts'
import { registrable } from '../names/availability.ts'
import { areSame } from '../secrets/signing-keys.ts'
import type { Scan } from '../work/work.ts'
import { Claim, moment, watchedAfter, withhold } from '../zone/claim.ts'
import { record, REPAIR } from '../zone/journal.ts'
import { openPublication, type Publication } from '../zone/publication.ts'
import { Zone } from '../zone/zone.ts'
import { deleteLeftovers } from '../zone/zone-creation.ts'
import { audit, AUDIT_PAUSE, auditByTurns, differs, named } from './audit.ts'
import { keepMissingKeys } from './missing-keys.ts'
import { untilProbed } from './probing.ts'

/** The number of parallel repairs of marked zones, and the milliseconds between two looks of the command `reconcile`. */
export const RECONCILERS = 4
const RECONCILE_PAUSE = 1_000

/** Milliseconds that a process has to begin the repair of a zone that it marked in a transaction, before others do. */
export const OWN_REPAIR = 10_000

/** The number of these pauses for which the command `reconcile` waits for zones that other processes have locked. */
const RECONCILE_PATIENCE = 15

/** Milliseconds between two checks of a zone that another worker repairs, while a request waits for it. */
const LEFTOVER_PAUSE = 50

/** Milliseconds between two lines about the progress of `zoneplane rebuild` and `zoneplane adopt`. */
export const PROGRESS_PAUSE = 2_000

/** Makes due marked zones equal to the database and removes their marks. Returns the repaired zones. */
export async function reconcile(system: System): Promise<string[]> {
  return (await Promise.all(Array.from({ length: RECONCILERS }, () => repairDue(system)))).flat()
}

/** Repairs due zones one after the other. A zone that cannot be repaired now becomes due again later. */
async function repairDue(system: System, stopping?: AbortSignal): Promise<string[]> {
  const repaired: string[] = []
  while (stopping?.aborted !== true) {
    const zone = await marks.takeDue(system.db)
    if (zone === undefined) break
    const isRepaired = await repair(system, zone).catch((error: unknown) => {
      if (stopping?.aborted !== true)
        system.log.error('zone repair failed; retrying', { zone, reason: (error as Error).message })
      return false
    })
    if (isRepaired) repaired.push(zone)
  }
  return repaired
}

/** Repairs one marked zone, unless another process or a writer has its lock. Returns true if it did. */
export async function repair(system: System, name: string): Promise<boolean> {
  await using publication = await openPublication(system, 'repair')
  const domain = await lockIfFree(publication.trx, name)
  if (domain === 'busy' || domain?.paused === true) return false
  const asked = moment()
  const mark = await marks.claim(system.pools.marks, name)
  if (mark === undefined) return false
  try {
    const isAsBefore = mark.settled && mark.isWatched && (await isServed(system, name, domain))
    const isOurs = !isAsBefore && (await restore(publication, domain, new Claim(system, mark, asked)))
    if (isOurs) publication.changes(name)
    await marks.settle(publication.trx, mark)
    await publication.commit()
    if (!isAsBefore) system.metrics?.count('zoneplane_repairs_total', {})
    return !isAsBefore
  } catch (error) {
    // While the zone is locked: it takes the claim from the worker that has claimed the mark meanwhile.
    system.metrics?.count('zoneplane_repair_failures_total', { kind: kindOf(error) })
    await marks.keep(system.pools.marks, watchedAfter(mark, error), true, (error as Error).message)
    throw error
  }
}

function kindOf(error: unknown): string {
  if (error instanceof NameserverFailure) return error.kind
  return error instanceof Unavailable ? 'postgres' : 'other'
}

/**
 * Deletes the remains of a failed creation of a zone, perhaps still served. Waits for other workers on the zone.
 * @throws Busy after QUEUE_TIMEOUT, or without a turn; NameserverFailure
 */
export async function clearLeftovers(system: System, name: string): Promise<void> {
  await repairWhile(system, name, () => marks.isLeftover(system.db, name))
}

/**
 * Makes a marked zone equal to the database now, or waits for another worker that does.
 * @throws Busy after QUEUE_TIMEOUT, or without a turn; NameserverFailure
 */
export async function repairNow(system: System, name: string): Promise<void> {
  await repairWhile(system, name, async () => (await marks.list(system.db, [name])).length > 0)
}

async function repairWhile(system: System, name: string, isMarked: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + QUEUE_TIMEOUT
  while (await isMarked()) {
    if (performance.now() > end) throw Busy.waitedTooLong(`${name} is still being repaired`)
    if (!(await repair(system, name))) await sleep(LEFTOVER_PAUSE)
  }
}

/** Reports whether the nameserver has the domain's version and keys, or no zone if none is to be served. */
async function isServed(system: System, name: string, domain: Domain | undefined): Promise<boolean> {
  const isWanted = domain !== undefined && domain.suspended === null
  if ((await system.nameserver.serial(absolute(name))) !== (isWanted ? domain.version : undefined)) return false
  // The serial does not show a late request that changed a key.
  if (!isWanted) return true
  return areSame(await keys.keysOf(system.db, domain.id), await system.nameserver.keyStates(absolute(name)))
}

/** Locks the domain; if it does not exist (undefined), locks its creation until the transaction ends. */
async function lockIfFree(trx: Db, name: string): Promise<LockedDomain | 'busy' | undefined> {
  const domain = await domains.lockIfFree(trx, name)
  if (domain !== undefined) return domain
  if (!(await lockCreationIfFree(trx, registrable(name)))) return 'busy'
  // The domain may have been created just before the lock.
  return domains.lockIfFree(trx, name)
}

/**
 * Makes a zone equal to the database: deletes that of a suspended domain, and, without domain, the remains of a creation
 * of ours.
 * @returns false if the zone is foreign, and was left untouched
 */
async function restore(publication: Publication, domain: LockedDomain | undefined, claim: Claim): Promise<boolean> {
  const { system } = publication
  const { zone, since: marked } = claim.mark
  await claim.wait()
  let rrsets: string | undefined
  if (domain !== undefined && domain.suspended !== null) await withhold(system, claim, domain)
  else if (domain !== undefined) {
    const isForeign = marks.wasAudited(claim.mark)
    const { version, differences: found } = await new Zone(publication, domain, REPAIR).publishWhole(claim)
    if (isForeign && found.length > 0) {
      const occasion = { version, now: after(domain.published, system.now()) }
      await record(system, publication.trx, domain, REPAIR, occasion, found)
      rrsets = named(found.map(({ subname, type }) => `${subname || '@'} ${type}`))
    }
    if (await differs(system, { ...domain, version, rectify: true })) {
      throw new NameserverFailure('failed', 'the zone still differs after it was published')
    }
  } else if (!(await deleteLeftovers(system, claim))) {
    system.log.warn('foreign zone left untouched', { zone })
    return false
  }
  if (!claim.mark.settled)
    system.log.warn('zone repaired', { zone, marked, ...(rrsets === undefined ? {} : { rrsets }) })
  return true
}

/**
 * Audits, and repairs all marked zones now. Leaves those alone that are only being written.
 * @param options.tell called every few seconds with the numbers of finished and of all zones
 * @returns the zones that needed repair, and the marks that remain of these because it failed
 */
export async function reconcileAll(
  system: System,
  { contents, tell }: { contents: boolean; tell?: (done: number, all: number) => void },
): Promise<{ doubtful: string[]; left: Mark[] }> {
  await keepMissingKeys(system)
  const suspects = new Set(await audit(system, () => contents))
  const marked = await marks.list(system.db)
  const needed = new Set(marked.flatMap((mark) => (marks.isOfWrite(mark) ? [] : [mark.zone])))
  const awaited = marked.filter(({ zone }) => needed.has(zone) || suspects.has(zone))
  const before = new Map(awaited.map((mark) => [mark.zone, mark]))
  await marks.hasten(system.db)
  // Other processes also repair, so the marks decide.
  const count = async () => {
    const left = await marks.state(system.db).catch(() => undefined)
    if (left !== undefined) tell?.(Math.max(before.size - left.number, 0), before.size)
  }
  if (before.size > 0) tell?.(0, before.size)
  const telling = tell && setInterval(() => void count(), PROGRESS_PAUSE)
  try {
    for (let patience = RECONCILE_PATIENCE; ; patience--) {
      for (const zone of await reconcile(system)) needed.add(zone)
      // A later mark is that of a write to a zone that was equal.
      const now = await marks.list(system.db, [...before.keys()])
      const left = now.filter((mark) => mark.since === before.get(mark.zone)!.since)
      // A zone without an attempt since is locked by a writer or by another process that reconciles.
      if (patience === 0 || left.every(({ zone, attempts }) => attempts > before.get(zone)!.attempts)) {
        for (const { zone } of left) needed.add(zone)
        return { doubtful: marked.map(({ zone }) => zone).filter((zone) => needed.has(zone)), left }
      }
      await sleep(RECONCILE_PAUSE)
    }
  } finally {
    clearInterval(telling)
  }
}

/** Repair the marked zones that are due, once PowerDNS was probed. */
export const REPAIR_SCANS: Scan[] = Array.from({ length: RECONCILERS }, () => ({
  name: 'reconciliation',
  of: 'marks',
  isOn: ({ nameserver }) => nameserver.problem === undefined,
  run: repairDue,
}))

/**
 * Probes PowerDNS until that succeeds. Then audits periodically, until stopped. The first audit compares all serials, and
 * finds changes from the time when no process of ours ran.
 */
export function reconcileTask(system: System): BackgroundTask {
  const stopping = new AbortController()
  const { signal } = stopping
  const probed = untilProbed(system, signal)
  const run = async (work: () => Promise<unknown>) => {
    await probed
    await runPeriodically(system.log, 'reconciliation', work, AUDIT_PAUSE, signal)
  }
  const loops = [run(auditByTurns(system)), run(() => keepMissingKeys(system, signal))]
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
