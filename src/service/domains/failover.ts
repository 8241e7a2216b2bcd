import { COMPARISON_PAUSE, EXPLORE_PAUSE, FAILOVER_PAUSE } from '../../limits.ts'
import { formerPrimaries } from '../../store/connections/hosts.ts'
import { present, type Incarnation } from '../../store/connections/incarnations.ts'
import { leaveFormer, timelineOf } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import type { System } from '../../system.ts'
import { keepRunning, type BackgroundTask } from '../background.ts'
import { strangers } from './adoption.ts'
import { audit, named } from './reconcile.ts'

/**
 * Notices, until stopped, that Postgres has crashed, or that a standby has replaced it: leaves the former server, and makes
 * DNS what the present one says, because it may lack what was committed last, and marks. It does so again when no request
 * can arrive any more whose mark was lost.
 */
export function keepFollowing(system: System): BackgroundTask {
  let before: string | undefined
  let last: Incarnation | undefined
  let isDue = false
  const follow = async () => {
    const timeline = await timelineOf(system.countersDb).catch(() => undefined)
    if (timeline !== undefined) {
      if (before !== undefined && timeline !== before)
        system.log.warn('a standby has replaced Postgres', { timeline, before })
      before = timeline
      leaveFormer([system.db, system.writersDb, system.marksDb, system.countersDb], timeline)
    }
    const incarnation = await present(system.countersDb).catch(() => undefined)
    if (incarnation === undefined) return
    if (last !== undefined && incarnation.id !== last.id) {
      system.log.warn('Postgres has crashed, or a standby has replaced it: all zones are compared')
      isDue = true
    }
    isDue ||= last?.isDoubtful === true && !incarnation.isDoubtful
    last = incarnation
  }
  const compare = async () => {
    if (!isDue) return
    isDue = false
    await auditAll(system).catch((error: unknown) => {
      isDue = true
      throw error
    })
  }
  // Side by side: a comparison may hang on a connection to the former server until that is left.
  const tasks = [
    keepRunning(system, 'the search for the present life of Postgres', follow, FAILOVER_PAUSE),
    keepRunning(system, 'the audit after a crash of Postgres', compare, COMPARISON_PAUSE),
  ]
  return {
    async stop() {
      await Promise.all(tasks.map((task) => task.stop()))
    },
  }
}

/**
 * Asks all servers of DATABASE_URL, until stopped, and tells of those that say they are the primary although a standby has
 * replaced them. This process uses none of them from then on.
 */
export function keepExploring(system: System): BackgroundTask {
  const { databaseUrl } = system.config
  let told = ''
  const explore = async () => {
    const former = databaseUrl === undefined ? [] : await formerPrimaries(databaseUrl)
    const servers = former.join(', ')
    if (servers !== '' && servers !== told) {
      system.log.error('a former primary of Postgres still accepts writes: stop it', { servers })
    }
    told = servers
  }
  return keepRunning(system, 'the search for former primaries', explore, EXPLORE_PAUSE)
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
