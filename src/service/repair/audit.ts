import { absolute } from '../../dns/names.ts'
import { transaction } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { unixTime } from '../../time.ts'
import { compare, wantedZone } from '../zone/whole-zone.ts'
import { compareStandbys, serialOf } from './standbys.ts'

// An audit compares zones with the database, and marks those that differ (architecture.md).

/** Milliseconds between two audits of all serials: for 100,000 zones, PowerDNS needs a second. */
export const AUDIT_PAUSE = 600_000

/** The number of audits that together compare the contents of all zones, a part in each: those of a day. */
export const AUDIT_TURNS = 86_400_000 / AUDIT_PAUSE

/** The number of zones, or of RRsets that a repair has corrected, that a line of the log names. */
const LOGGED_NAMES = 10

/**
 * Finds zones that differ from the database, marks them, and returns their names; only logs paused ones. Compares the
 * serials, with one request for all zones, also at the standbys. Its statements may be long, so they are in transactions (limits.ts).
 * @param compares returns whether the contents of the domain with this id are also compared, with a request of its own
 */
export async function audit(system: System, compares: (id: number) => boolean): Promise<string[]> {
  // The versions first: that of a zone that is written meanwhile is another when the zone is marked.
  const versions = await transaction(system.db, (trx) => domains.versions(trx))
  const serials = await system.nameserver.serials()
  const suspects = new Map<string, number | null>()
  for (const { id, name, version, paused, suspended } of versions) {
    const wanted = serialOf({ version, suspended })
    if (serials.get(absolute(name)) === wanted && !(compares(id) && (await contentsDiffer(system, name)))) continue
    if (paused) system.log.warn('paused zone differs from Postgres', { zone: name })
    else suspects.set(name, compares(id) ? null : version)
  }
  const found = await transaction(system.db, (trx) => {
    return marks.setMany(trx, [...suspects.keys()], { versions: [...suspects.values()] })
  })
  system.metrics?.count('zoneplane_drifted_zones_total', { found_by: 'audit' }, found.length)
  await tellLost(system, serials, found)
  await compareStandbys(system)
  return [...suspects.keys()]
}

/**
 * Logs the zones whose served serial is above all that the database knows of: it has lost commits, or others have
 * changed the zones. Other processes have not logged them, because they have not marked them.
 */
async function tellLost(system: System, serials: Map<string, number>, found: string[]): Promise<void> {
  const ahead = (await domains.sent(system.db, found)).filter(({ name, sent }) => serials.get(absolute(name))! > sent)
  if (ahead.length === 0) return
  system.log.error('zones are ahead of Postgres (lost commits or foreign changes); restoring them from Postgres', {
    count: ahead.length,
    zones: named(ahead.map(({ name }) => name)),
  })
}

/**
 * Returns an audit to be repeated every AUDIT_PAUSE. Each compares the contents of the domains whose turn has come
 * since the last one, so that a day compares all, without a peak.
 */
export function auditByTurns(system: System): () => Promise<string[]> {
  const turnNow = () => Math.floor((unixTime(system.now()) * 1_000) / AUDIT_PAUSE)
  let last = turnNow()
  return async () => {
    const turn = turnNow()
    const age = (id: number) => (((turn - id) % AUDIT_TURNS) + AUDIT_TURNS) % AUDIT_TURNS
    const suspects = await audit(system, (id) => age(id) < turn - last)
    last = turn
    return suspects
  }
}

async function contentsDiffer(system: System, name: string): Promise<boolean> {
  const domain = await domains.find(system.db, name)
  return domain === undefined || differs(system, domain)
}

/** Reports whether the zone at the nameserver differs from the database, which wants none of a suspended domain. */
export async function differs(system: System, domain: Domain): Promise<boolean> {
  if (domain.suspended !== null) return (await system.nameserver.read(absolute(domain.name))) !== undefined
  const wanted = await wantedZone(system, domain)
  const live = await system.nameserver.read(wanted.zone, wanted.transfers)
  return live?.complete !== true || !(await compare(live, wanted)).isEqual
}

/** Lists the first of many names, for the log. */
export function named(names: string[]): string {
  const more = names.length > LOGGED_NAMES ? [`${names.length - LOGGED_NAMES} more`] : []
  return [...names.slice(0, LOGGED_NAMES), ...more].join(', ')
}
