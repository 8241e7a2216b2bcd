import { setTimeout as sleep } from 'node:timers/promises'
import { absolute } from '../../dns/names.ts'
import { Busy, Conflict, orNotFound } from '../../errors.ts'
import { RECOVERY_PAUSE } from '../../flow/background.ts'
import { QUEUE_TIMEOUT } from '../../limits.ts'
import { begin, type Db } from '../../store/database.ts'
import type { Member } from '../../store/domains/catalogs.ts'
import * as store from '../../store/domains/catalogs.ts'
import { past, spend } from '../../store/domains/spent.ts'
import { requireTerm } from '../../store/primaries.ts'
import { takeTurn } from '../../store/turns.ts'
import type { System } from '../../system.ts'
import { AUDIT_PAUSE } from '../repair/audit.ts'
import type { Scan } from '../work/work.ts'
import { nextVersion } from '../zone/claim.ts'

/** The members that the catalog zone can lose at once: this number, or this share of them if that is more. */
const CATALOG_LOSS = 10
const CATALOG_LOSS_SHARE = 0.05

// The catalog zone (RFC 9432) lists all zones for the secondaries. After the domains are committed, one process at a
// time publishes it from the table of its members: the waiting ones each second, and all of them when something may be
// different at the nameserver.

/** The changes to the catalog zone. */
export interface CatalogReport {
  catalog: string
  /** The number of its members now. */
  members: number
  added: number
  removed: number
  /** The number of members that should be removed, but wait for the operator: nobody has deleted their domains. */
  held: number
}

/** The catalog zone at present, and the members that it should gain and lose. */
interface Plan {
  /** The serial; undefined: the nameserver does not have the zone. */
  serial: number | undefined
  sound: boolean
  /** The number of its members. */
  size: number
  /** The rows of the table that are published with this. */
  members: Member[]
  /** Zones by the members' labels. */
  added: Map<string, string>
  removed: Map<string, string>
}

/** Milliseconds between two attempts of a command to become the only process that publishes. */
const LOCK_PAUSE = 200

/** The longest pause, in milliseconds, between two looks for a change-over. */
const TERM_PAUSE = 10_000

/** Publishes the catalog zone: all of it at the start, after a failure or a change-over, and every AUDIT_PAUSE. */
export function catalogScan(): Scan {
  let compared = -Infinity
  let term: number | undefined
  let held = 0
  const pause = () => Math.min(compared + AUDIT_PAUSE - performance.now(), term === undefined ? Infinity : TERM_PAUSE)
  return {
    name: 'catalog zone publication',
    of: 'catalog',
    pause: RECOVERY_PAUSE,
    isOn: ({ config, nameserver }) => config.catalogZone !== undefined && nameserver.problem === undefined,
    async run(system) {
      // A standby that takes over may have an older one.
      const last = term === system.primaries.term ? compared : -Infinity
      term = system.primaries.term
      const whole = performance.now() - last > AUDIT_PAUSE
      if (!whole) {
        const { coming, leaving } = await store.countWaiting(system.db)
        // Held members wait each time.
        if (coming === 0 && leaving === held) return pause()
      }
      // Unless this succeeds.
      compared = -Infinity
      const report = await publishCatalog(system, system.config.catalogZone!, { whole, force: false })
      if (report !== undefined && report.held > 0 && report.held !== held) tellHeld(system, report)
      held = report?.held ?? held
      compared = whole && report !== undefined ? performance.now() : last
      return pause()
    },
  }
}

function tellHeld(system: System, { catalog, members, held }: CatalogReport): void {
  const todo = '`zoneplane catalog publish --force` removes them'
  system.log.error('catalog zone would lose too many members at once; keeping them', {
    catalog,
    leaving: held,
    members,
    todo,
  })
}

/**
 * Publishes all differences of the catalog zone; undefined without CATALOG_ZONE.
 * @param force true even if it loses many members @throws Busy, Conflict
 */
export async function publishNow(system: System, force: boolean): Promise<CatalogReport | undefined> {
  const catalog = system.config.catalogZone
  const end = performance.now() + QUEUE_TIMEOUT
  while (catalog !== undefined) {
    const report = await publishCatalog(system, catalog, { whole: true, force })
    if (report !== undefined) return report
    if (performance.now() > end) throw Busy.waitedTooLong('another process publishes the catalog zone')
    await sleep(LOCK_PAUSE)
  }
  return undefined
}

/** Deletes a catalog zone that is no longer published. @throws Conflict, NotFound */
export async function removeCatalog({ config, nameserver }: System, catalog: string): Promise<void> {
  if (catalog === config.catalogZone) throw new Conflict(`${catalog} is CATALOG_ZONE: the service would make it again`)
  const { sound } = orNotFound(await nameserver.catalogs.read(catalog))
  if (!sound) throw new Conflict(`${catalog} at PowerDNS is not a catalog zone as Zoneplane makes it`)
  await nameserver.catalogs.remove(catalog)
}

/**
 * Changes the catalog zone. Secondaries delete a zone at once when its member leaves. So members leave only if their
 * domains were deleted, or if they are few, or their zones stay under other labels, or the operator says so.
 * @param options.whole compares all members with the nameserver; otherwise publishes the waiting ones, unless the
 *   catalog zone has lost its last serial
 * @returns undefined if another process publishes
 * @throws Conflict if the catalog zone is missing, and also many of its members' zones
 */
async function publishCatalog(
  system: System,
  catalog: string,
  { whole, force }: { whole: boolean; force: boolean },
): Promise<CatalogReport | undefined> {
  const { term } = system.primaries
  await using transaction = await begin(system.db)
  const trx = transaction.db
  if (!(await takeTurn(trx, 'catalog zones'))) return undefined
  await store.forget(trx)
  const waiting = whole ? undefined : await planWaiting(system, trx, catalog)
  const plan = waiting ?? (await planWhole(system, trx, catalog))
  const held = force ? new Set<string>() : heldOf(plan)
  const added = new Map([...plan.added].filter(([label]) => !held.has(label)))
  const removed = [...plan.removed.keys()].filter((label) => !held.has(label))
  // The others get another zone.
  const leaving = removed.filter((label) => !added.has(label))
  if (plan.serial === undefined && !force) await requireZones(system, catalog, added)
  const serial = await send(system, trx, catalog, { ...plan, added, leaving })
  const published = plan.members.filter(({ label }) => !held.has(label))
  await store.note(trx, idsOf(published, false), idsOf(published, true))
  if (serial !== undefined) await spend(trx, [{ name: catalog, serial }])
  if (serial !== undefined && term !== undefined) await requireTerm(trx, term, new Map([[catalog, undefined]]))
  await transaction.commit()
  if (serial !== undefined) system.secondaries.announce(catalog, serial, [])
  const members = plan.size + added.size - removed.length
  return { catalog, members, added: added.size, removed: leaving.length, held: held.size }
}

/**
 * Plans the changes that wait in the table. Returns undefined if the catalog zone does not have the last serial that
 * was sent: it may be a new one without most of its members.
 */
async function planWaiting(system: System, trx: Db, catalog: string): Promise<Plan | undefined> {
  const serial = await system.nameserver.serial(absolute(catalog))
  if (serial === undefined || serial !== (await past(trx, catalog)).sent) return undefined
  const members = await store.waiting(trx)
  const [added, removed] = [false, true].map((isGone) => zonesByLabel(members.filter(({ gone }) => gone === isGone)))
  const size = removed!.size > CATALOG_LOSS ? await store.size(trx) : 0
  return { serial, sound: true, size, members, added: added!, removed: removed! }
}

/** Compares the catalog zone with the domains. */
async function planWhole(system: System, trx: Db, catalog: string): Promise<Plan> {
  await store.equalise(trx)
  const members = await store.all(trx)
  const live = await system.nameserver.catalogs.read(catalog)
  const { serial, sound = true, members: there = new Map<string, string>() } = live ?? {}
  const wanted = zonesByLabel(members.filter(({ gone }) => !gone))
  return {
    ...{ serial, sound, size: there.size, members },
    added: new Map([...wanted].filter(([label, zone]) => there.get(label) !== zone)),
    removed: new Map([...there].filter(([label, zone]) => wanted.get(label) !== zone)),
  }
}

/**
 * Returns the labels of the members that may not leave. Deleted domains do not count: otherwise a tenant who deletes many
 * would keep those of all others in the catalog zone.
 */
function heldOf({ members, added, removed, size }: Plan): Set<string> {
  const staying = new Set(added.values())
  const deleted = new Set(members.filter(({ gone, lost }) => gone && !lost).map(({ label }) => label))
  const lost = [...removed].filter(([label, zone]) => !deleted.has(label) && !staying.has(zone)).map(([label]) => label)
  return new Set(lost.length > mayLose(size) ? lost : [])
}

/** Sends the changes, if any, and returns the serial, if it is new. */
async function send(
  system: System,
  trx: Db,
  catalog: string,
  { serial: live, sound, added, leaving }: Pick<Plan, 'serial' | 'sound' | 'added'> & { leaving: string[] },
): Promise<number | undefined> {
  const { sent } = await past(trx, catalog)
  // A publisher may have died after it had sent that.
  if (live !== undefined && sound && added.size + leaving.length === 0) return live > sent ? live : undefined
  const serial = nextVersion(system, Math.max(sent, live ?? 0))
  const there = live === undefined ? undefined : { sound }
  await system.nameserver.catalogs.publish(catalog, there, serial, added, leaving)
  return serial
}

/** Returns the number of members that the catalog zone may lose at once. */
function mayLose(size: number): number {
  return Math.max(CATALOG_LOSS, CATALOG_LOSS_SHARE * size)
}

/**
 * Requires the members' zones before the catalog zone is made again: secondaries cannot transfer absent zones.
 * @throws Conflict
 */
async function requireZones({ nameserver }: System, catalog: string, members: Map<string, string>): Promise<void> {
  const serials = await nameserver.serials()
  const absent = [...members.values()].filter((zone) => !serials.has(absolute(zone))).length
  if (absent <= mayLose(members.size)) return
  throw new Conflict(
    `${catalog} is missing at PowerDNS, and ${absent} of its ${members.size} zones, which must be there first: see zoneplane rebuild`,
  )
}

function zonesByLabel(members: Member[]): Map<string, string> {
  return new Map(members.map(({ label, zone }) => [label, zone]))
}

function idsOf(members: Member[], isGone: boolean): number[] {
  return members.filter(({ gone }) => gone === isGone).map(({ id }) => id)
}
