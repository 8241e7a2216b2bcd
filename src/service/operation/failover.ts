import { type BackgroundTask, keepRunning } from '../../flow/background.ts'
import { currentIncarnation, type Incarnation } from '../../store/incarnations.ts'
import type { System } from '../../system.ts'
import { keepStrangers } from '../adoption/strangers.ts'
import { audit, named } from '../repair/audit.ts'

/** Milliseconds between two questions whether Postgres has crashed, or a standby has replaced it. */
const FAILOVER_PAUSE = 2_000

/**
 * Notices, until stopped, that Postgres has crashed, or that a standby has replaced it, and makes DNS equal to the
 * present one, because it may lack the latest commits and marks. Does so again when no request whose mark was lost can
 * arrive any more.
 */
export function failoverTask(system: System): BackgroundTask {
  let last: Incarnation | undefined
  let isDue = false
  // In parallel: a comparison may hang on a connection to the former server until that connection is broken.
  let comparison: Promise<void> | undefined
  // Its connections first lead to a new primary, and then all others leave the former one (session.ts).
  const follow = async () => {
    const incarnation = await currentIncarnation(system.pools.counters).catch(() => undefined)
    if (incarnation === undefined) return
    if (last !== undefined && incarnation.id !== last.id) {
      system.log.warn('Postgres restarted or failed over; comparing all zones')
      isDue = true
    }
    isDue ||= last?.isDoubtful === true && !incarnation.isDoubtful
    last = incarnation
    if (isDue) comparison ??= compare()
  }
  const compare = async () => {
    isDue = false
    await auditAll(system).catch((error: unknown) => {
      isDue = true
      system.log.error('audit after Postgres restart failed', { reason: (error as Error).message })
    })
    comparison = undefined
  }
  const watch = keepRunning(system.log, 'watch for Postgres restarts', follow, FAILOVER_PAUSE)
  return {
    async stop() {
      await watch.stop()
      await comparison
    },
  }
}

/** Marks the zones that differ; logs the foreign ones, and keeps their serials. */
async function auditAll(system: System): Promise<void> {
  await audit(system, () => false)
  const unknown = await keepStrangers(system)
  if (unknown.length === 0) return
  system.log.warn('zones at PowerDNS without a domain (foreign, or lost by Postgres); keeping them', {
    zones: named(unknown),
  })
}
