import type { Notification as Outcome } from '../../nameserver/parents/dsync.ts'
import * as domains from '../../store/domains/domains.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { HOUR, later } from '../../time.ts'
import { statusOf } from '../domains/serving-status.ts'
import { signallingZones } from '../names/signalling-zones.ts'
import type { Kind } from '../work/work.ts'
import { NOTIFY_PARENT } from '../zone/cds.ts'
import { asksParents } from './checking.ts'
import { WAITING_PAUSES } from './planning.ts'

/**
 * Tells a parent that wants to know it that the CDS of a domain have changed (RFC 9859; contract §15.9). If it may not have
 * heard it, it is told again after each of WAITING_PAUSES. That only spares it a search, so then it is over.
 */
export const NOTIFICATION: Kind = {
  kind: NOTIFY_PARENT,
  ...{ all: 10, each: 5 },
  retry: WAITING_PAUSES,
  isOn: (system) => asksParents(system) && system.nameserver.problem === undefined,
  async run(system, { subject: name, attempts }) {
    const domain = await domains.find(system.db, name)
    if (domain === undefined) return undefined
    if (domain.paused || domain.suspended !== null) return later(system.now(), HOUR)
    const outcome = await tell(system, name)
    if (outcome !== undefined) system.metrics?.count('zoneplane_parent_notifications_total', { outcome })
    if (outcome === 'acknowledged' || outcome === 'unwanted' || attempts > WAITING_PAUSES.length) return undefined
    throw new Error(`NOTIFY(CDS): ${outcome ?? 'not all nameservers have the zone'}`)
  },
}

/**
 * Returns undefined if a nameserver of ours does not have the CDS yet: the parent would look too early (§4.2). It may look
 * into the signalling zones, too.
 */
async function tell(system: System, name: string): Promise<Outcome | undefined> {
  const zones = [name, ...signallingZones(system.config)]
  const served = await Promise.all(zones.map((zone) => isServed(system, zone)))
  return served.every(Boolean) ? system.parents.notify(name) : undefined
}

/** Reports whether all nameservers that answer have the present zone, if it is hosted here. */
async function isServed(system: System, name: string): Promise<boolean> {
  // First the mark: the version of before could otherwise be that of a publication which ends meanwhile.
  if ((await marks.list(system.db, [name])).length > 0) return false
  const domain = await domains.find(system.db, name)
  if (domain === undefined) return true
  const patience = { group: domain.ownerId, wait: 0, gone: system.stopping }
  return (await statusOf(system, domain, patience)).status === 'INSYNC'
}
