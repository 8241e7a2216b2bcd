import { setTimeout as sleep } from 'node:timers/promises'
import { Busy, Conflict } from '../../errors.ts'
import { AUDIT_PAUSE, CATALOG_LOSS, CATALOG_LOSS_SHARE, CATALOG_PAUSE, QUEUE_TIMEOUT } from '../../limits.ts'
import { begin, type Db } from '../../store/database.ts'
import * as store from '../../store/domains/catalogs.ts'
import type { Member } from '../../store/domains/catalogs.ts'
import { past, spend } from '../../store/domains.ts'
import type { System } from '../../system.ts'
import { keepRunning, type BackgroundTask } from '../background.ts'
import { nextVersion } from '../zone/publication.ts'

// The catalog zones (RFC 9432) tell secondaries which zones there are. They are published after the domains are committed,
// by one process at a time, from the table of their members: what waits there several times a second, and all of it when
// something may be different at the nameserver.

/** What was done to a catalog zone. */
export interface CatalogReport {
  catalog: string
  /** How many it has now. */
  members: number
  added: number
  removed: number
  /** How many should be removed, but wait for the operator. */
  held: number
}

/** A catalog zone as it is, and what it should gain and lose. */
interface Plan {
  catalog: string
  /** Undefined: the nameserver does not have it. */
  serial: number | undefined
  sound: boolean
  /** How many members it has. */
  size: number
  /** The rows of the table that are published with this. */
  members: Member[]
  /** Zones by the members' ids. */
  added: Map<string, string>
  removed: Map<string, string>
}

/**
 * Publishes the catalog zones, until stopped. All of it at the start, after a failure, and every AUDIT_PAUSE.
 */
export function keepCatalogs(system: System): BackgroundTask {
  let compared = -Infinity
  let held = 0
  const publish = async () => {
    if (system.config.catalogZones.length === 0 || system.nameserver.problem !== undefined) return
    const whole = performance.now() - compared > AUDIT_PAUSE
    if (!whole) {
      const { coming, leaving } = await store.countWaiting(system.db)
      // What is held is there each time.
      if (coming === 0 && leaving === held) return
    }
    try {
      const reports = await publishCatalogs(system, { whole, force: false })
      if (reports === undefined) return
      const before = held
      held = reports.reduce((sum, report) => sum + report.held, 0)
      if (held > 0 && held !== before) tellHeld(system, reports)
      if (whole) compared = performance.now()
    } catch (error) {
      compared = -Infinity
      throw error
    }
  }
  return keepRunning(system, 'publication of the catalog zones', publish, CATALOG_PAUSE)
}

function tellHeld(system: System, reports: CatalogReport[]): void {
  for (const { catalog, members, held } of reports.filter((report) => report.held > 0)) {
    const todo = '`zoneplane catalog publish --force` removes them'
    system.log.error('many members would leave a catalog zone, and stay', { catalog, leaving: held, members, todo })
  }
}

/** Publishes all that differs in the catalog zones. @param force also if they lose many members @throws Busy */
export async function publishNow(system: System, force: boolean): Promise<CatalogReport[]> {
  const end = performance.now() + QUEUE_TIMEOUT
  for (;;) {
    const reports = await publishCatalogs(system, { whole: true, force })
    if (reports !== undefined) return reports
    if (performance.now() > end) throw Busy.waitedTooLong('another process publishes the catalog zones')
    await sleep(CATALOG_PAUSE)
  }
}

/**
 * @param options.whole compares all members with the nameserver; else publishes what waits in the table, unless a catalog
 *   zone is not as it was left
 * @returns undefined if another process publishes
 */
async function publishCatalogs(
  system: System,
  { whole, force }: { whole: boolean; force: boolean },
): Promise<CatalogReport[] | undefined> {
  await using transaction = await begin(system.db)
  const trx = transaction.db
  if (!(await store.lock(trx))) return undefined
  await store.forget(trx, system.config.catalogZones)
  const waiting = whole ? undefined : await planWaiting(system, trx)
  const plans = waiting ?? (await planWhole(system, trx))
  const reports: CatalogReport[] = []
  const serials: { name: string; serial: number }[] = []
  for (const plan of plans) {
    const { report, serial } = await carryOut(system, trx, plan, force)
    reports.push(report)
    if (serial !== undefined) serials.push({ name: plan.catalog, serial })
  }
  if (serials.length > 0) await spend(trx, serials)
  await transaction.commit()
  for (const { name, serial } of serials) system.secondaries.announce(name, serial, [])
  return reports
}

/**
 * What the table says that should change. Undefined if a catalog zone is not as it was left: it may be a new one without
 * most of its members.
 */
async function planWaiting(system: System, trx: Db): Promise<Plan[] | undefined> {
  const names = system.config.catalogZones
  const members = await store.waiting(trx)
  const leaving = members.filter(({ gone }) => gone).length
  const needsSizes = names.length > 1 || leaving > CATALOG_LOSS
  const sizes = needsSizes ? await store.sizes(trx) : new Map<string, number>()
  assign(names, members, sizes)
  const plans: Plan[] = []
  for (const catalog of names) {
    const own = members.filter((member) => member.catalog === catalog)
    if (own.length === 0) continue
    const serial = await system.nameserver.serial(`${catalog}.`)
    if (serial === undefined || serial !== (await past(trx, catalog)).sent) return undefined
    const [added, removed] = [false, true].map((isGone) => zonesById(own.filter(({ gone }) => gone === isGone)))
    const size = sizes.get(catalog) ?? 0
    plans.push({ catalog, serial, sound: true, size, members: own, added: added!, removed: removed! })
  }
  return plans
}

/** How the catalog zones differ from the domains. */
async function planWhole(system: System, trx: Db): Promise<Plan[]> {
  const names = system.config.catalogZones
  await store.equalise(trx)
  const members = await store.all(trx)
  const live = await Promise.all(names.map((name) => system.nameserver.catalogs.read(name)))
  for (const member of members) {
    // The table does not say where it is if a commit was lost.
    const at = live.findIndex((catalog) => catalog?.members.get(String(member.id)) === member.zone)
    if (at >= 0) member.catalog = names[at]!
  }
  assign(names, members, new Map(names.map((name, i) => [name, live[i]?.members.size ?? 0])))
  return names.map((catalog, i) => {
    const { serial, sound = true, members: found = new Map<string, string>() } = live[i] ?? {}
    const own = members.filter((member) => member.catalog === catalog)
    const wanted = zonesById(own.filter(({ gone }) => !gone))
    return {
      ...{ catalog, serial, sound, size: found.size, members: own },
      added: new Map([...wanted].filter(([id, zone]) => found.get(id) !== zone)),
      removed: new Map([...found].filter(([id, zone]) => wanted.get(id) !== zone)),
    }
  })
}

/**
 * Chooses the catalog zones of members that have none: that of an earlier domain of this name, which secondaries still
 * serve; else the smallest. A member never changes its catalog zone, because its zone would be gone for a while.
 */
function assign(names: readonly string[], members: Member[], sizes: Map<string, number>): void {
  const isNamed = (catalog: string | null): catalog is string => catalog !== null && names.includes(catalog)
  const before = new Map(
    members.flatMap(({ zone, gone, catalog }) => (gone && isNamed(catalog) ? [[zone, catalog]] : [])),
  )
  const sizeOf = (name: string) => sizes.get(name) ?? 0
  for (const member of members.filter(({ gone, catalog }) => !gone && !isNamed(catalog))) {
    const smallest = names.reduce((least, name) => (sizeOf(name) < sizeOf(least) ? name : least))
    member.catalog = before.get(member.zone) ?? smallest
    sizes.set(member.catalog, sizeOf(member.catalog) + 1)
  }
}

/**
 * Changes one catalog zone. Secondaries delete at once what leaves it, so members leave only if they are few, or their
 * zones stay under other ids, or the operator says so.
 * @returns the new serial if it was changed
 * @throws Conflict if the catalog zone is missing, and many of its members' zones, too
 */
async function carryOut(
  system: System,
  trx: Db,
  plan: Plan,
  force: boolean,
): Promise<{ report: CatalogReport; serial: number | undefined }> {
  const { catalog, size } = plan
  const held = force ? new Set<string>() : heldOf(plan)
  const added = new Map([...plan.added].filter(([id]) => !held.has(id)))
  const removed = [...plan.removed.keys()].filter((id) => !held.has(id))
  if (plan.serial === undefined && !force) await requireZones(system, catalog, added)
  const serial = await send(system, trx, { ...plan, added, removed })
  const published = plan.members.filter(({ id }) => !held.has(String(id)))
  await store.note(trx, catalog, idsOf(published, false), idsOf(published, true))
  const gone = removed.filter((id) => !added.has(id)).length
  const members = size + added.size - removed.length
  return { report: { catalog, members, added: added.size, removed: gone, held: held.size }, serial }
}

/** The ids of the members that may not leave. */
function heldOf({ added, removed, size }: Plan): Set<string> {
  const staying = new Set(added.values())
  const lost = [...removed].filter(([, zone]) => !staying.has(zone)).map(([id]) => id)
  return new Set(lost.length > mayLose(size) ? lost : [])
}

/** Sends the changes, if there are any, and returns the new serial. */
async function send(
  system: System,
  trx: Db,
  { catalog, serial: live, sound, added, removed }: Omit<Plan, 'removed'> & { removed: string[] },
): Promise<number | undefined> {
  if (live !== undefined && sound && added.size + removed.length === 0) return undefined
  const { catalogs } = system.nameserver
  const { sent } = await past(trx, catalog)
  const serial = nextVersion(system, Math.max(sent, live ?? 0))
  if (live === undefined) await catalogs.create(catalog, serial, added)
  else {
    if (!sound) await catalogs.configure(catalog)
    const leaving = removed.filter((id) => !added.has(id))
    await catalogs.update(catalog, serial, added, leaving)
  }
  return serial
}

/** How many members a catalog zone may lose at once. */
function mayLose(size: number): number {
  return Math.max(CATALOG_LOSS, CATALOG_LOSS_SHARE * size)
}

/**
 * Before a missing catalog zone is made: secondaries would delete what it lacks, and could not transfer what is not there.
 * @throws Conflict
 */
async function requireZones({ nameserver }: System, catalog: string, members: Map<string, string>): Promise<void> {
  const serials = await nameserver.serials()
  const absent = [...members.values()].filter((zone) => !serials.has(`${zone}.`)).length
  if (absent <= mayLose(members.size)) return
  throw new Conflict(
    `${catalog} is missing at PowerDNS, and ${absent} of its ${members.size} zones, which must be there first: see zoneplane rebuild`,
  )
}

function zonesById(members: Member[]): Map<string, string> {
  return new Map(members.map(({ id, zone }) => [String(id), zone]))
}

function idsOf(members: Member[], isGone: boolean): number[] {
  return members.filter(({ gone }) => gone === isGone).map(({ id }) => id)
}
