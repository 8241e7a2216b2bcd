import { setTimeout as sleep } from 'node:timers/promises'
import { type BackgroundTask, keepRunning, RECOVERY_PAUSE } from '../../flow/background.ts'
import * as domains from '../../store/domains/domains.ts'
import type { System } from '../../system.ts'
import { HOUR, later } from '../../time.ts'

/** Milliseconds in which the sweep asks all secondaries about one zone: in an hour, about 36,000 zones. */
const SWEEP_PAUSE = 100

/** The number of zones that the sweep reads at a time: all in turn, and each time first the latest of the last hour. */
const SWEEP_BATCH = 100
const SWEEP_RECENT = HOUR

/**
 * Sends NOTIFY to secondaries that serve an old version of a zone, or none, one zone every SWEEP_PAUSE: those that were
 * away, and those whose NOTIFY got lost when a process died. So the service stores nothing about secondaries.
 */
export function sweepTask(system: System): BackgroundTask {
  let last = 0
  const round = async (signal: AbortSignal) => {
    if (system.secondaries.all.length === 0) return
    const since = later(system.now(), -SWEEP_RECENT)
    const recent = await domains.publishedSince(system.db, since, SWEEP_BATCH)
    const next = await domains.listAfter(system.db, last, SWEEP_BATCH)
    last = next.length < SWEEP_BATCH ? 0 : next.at(-1)!.id
    for (const { name, version, published, suspended } of [...recent, ...next]) {
      if (suspended !== null) continue
      // Not awaited: a secondary that does not answer keeps nothing waiting. The next round notifies it.
      system.secondaries.remind(name, system.nameserver.servedSerial(version, published)).catch(() => undefined)
      await sleep(SWEEP_PAUSE, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
    }
  }
  return keepRunning(system.log, 'secondary sweep', round, RECOVERY_PAUSE)
}
