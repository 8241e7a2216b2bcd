import pLimit from 'p-limit'
import { reasonOf } from '../../errors.ts'
import { type BackgroundTask, keepRunning } from '../../flow/background.ts'
import type { Notification as Outcome } from '../../nameserver/parents/parents.ts'
import * as domains from '../../store/domains/domains.ts'
import type { Notification } from '../../store/domains/notifications.ts'
import * as store from '../../store/domains/notifications.ts'
import { exclusively } from '../../store/turns.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { later } from '../../time.ts'
import { statusOf } from '../domains/serving-status.ts'
import { signallingZones } from '../names/signalling-zones.ts'
import { asksParents, PARALLEL } from './checking.ts'
import { WAITING_PAUSES } from './planning.ts'

// Parents that want to know it are told when CDS change (RFC 9859; contract §15.9). That only spares them a search, so it
// may fail.

/** Milliseconds between two looks, and the notifications that one takes up. */
const LOOK_PAUSE = 1_000
const BATCH = 20

/** Tells parents of changed CDS, until stopped, if the settings let the service ask parents. */
export function notificationTask(system: System): BackgroundTask {
  const work = async (signal: AbortSignal) => {
    if (asksParents(system) && system.nameserver.problem === undefined) await notifyDue(system, signal)
  }
  return keepRunning(system.log, 'parent notifications', work, LOOK_PAUSE)
}

/** Tells some of the parents that are to be told now, unless another process does so. */
export async function notifyDue(system: System, signal: AbortSignal): Promise<void> {
  if ((await store.due(system.db, system.now(), 1)).length === 0) return
  await exclusively(system.db, 'notifications of parents', async () => {
    await pLimit(PARALLEL).map(await store.due(system.db, system.now(), BATCH), async (each) => {
      if (!signal.aborted) await notifyOne(system, each, signal)
    })
  })
}

/** Tells one parent. If it may not have heard it, it is told again after each of WAITING_PAUSES, unless CDS change. */
async function notifyOne(system: System, notification: Notification, signal: AbortSignal): Promise<void> {
  const { name, attempts } = notification
  const outcome = await tell(system, name).catch((error: unknown) => {
    if (!signal.aborted) system.log.warn('NOTIFY(CDS) to parent failed', { domain: name, reason: reasonOf(error) })
    return undefined
  })
  if (outcome === undefined && signal.aborted) return
  if (outcome !== undefined) system.metrics?.count('zoneplane_parent_notifications_total', { outcome })
  const isOver = outcome === 'acknowledged' || outcome === 'unwanted'
  const pause = isOver ? undefined : WAITING_PAUSES[attempts]
  await store.attempted(system.db, notification, pause === undefined ? undefined : later(system.now(), pause))
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
