import { FAILOVER_PAUSE } from '../../limits.ts'
import { leaveFormer, timelineOf } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import type { System } from '../../system.ts'
import { keepRunning, type BackgroundTask } from '../background.ts'
import { strangers } from './adoption.ts'
import { audit, named } from './reconcile.ts'

/**
 * Notices, until stopped, that a standby has replaced Postgres: leaves the former server, and makes DNS what the new one
 * says, because it may lack what was committed last.
 */
export function keepFollowing(system: System): BackgroundTask {
  let last: string | undefined
  let isDue = false
  const follow = async () => {
    const timeline = await timelineOf(system.countersDb).catch(() => undefined)
    if (timeline === undefined) return
    if (last !== undefined && timeline !== last) {
      system.log.warn('a standby has replaced Postgres', { timeline, before: last })
      leaveFormer([system.db, system.writersDb, system.marksDb, system.countersDb], timeline)
      isDue = true
    }
    last = timeline
    if (!isDue) return
    await auditAll(system)
    isDue = false
  }
  return keepRunning(system, 'the audit after a failover', follow, FAILOVER_PAUSE)
}

/** Marks the zones that differ; tells of those without a domain, and keeps their serials. */
async function auditAll(system: System): Promise<void> {
  await audit(system, { contents: false })
  const unknown = await strangers(system)
  if (unknown.length === 0) return
  await domains.spend(system.db, unknown)
  const zones = named(unknown.map(({ name }) => name))
  system.log.warn('zones at PowerDNS without a domain: others have made them, or Postgres has lost their domains', {
    zones,
  })
}
