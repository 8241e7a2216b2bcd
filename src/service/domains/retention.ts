import { CLOCK_SKEW, DAY } from '../../limits.ts'
import * as windows from '../../store/windows.ts'
import * as history from '../../store/zone/history.ts'
import type { System } from '../../system.ts'
import { fromMicroseconds, microseconds } from '../../time.ts'
import { keepRunning, type BackgroundTask } from '../../flow/background.ts'
import { removeGivenUp } from '../mails/mail-queue.ts'

/** Entries of the history that are deleted at once when they are too old, and milliseconds between two searches. */
const HISTORY_BATCH = 1_000
const HISTORY_PAUSE = 600_000

/**
 * Deletes the entries of the history that are older than HISTORY_DAYS, and then forgets the domains that were deleted
 * before. Works in small batches, so that writes do not wait.
 */
export async function trimHistory(system: System, stopping?: AbortSignal): Promise<void> {
  const age = BigInt(system.config.historyDays * DAY) * 1_000_000n
  const first = fromMicroseconds(microseconds(system.now()) - age)!
  for (const remove of [history.removeBefore, history.forget]) {
    while (stopping?.aborted !== true && (await remove(system.db, first, HISTORY_BATCH)) === HISTORY_BATCH);
  }
}

/** Periodically trims the history, and deletes windows of throttling that have ended and mails that were given up. */
export function retentionTask(system: System): BackgroundTask {
  const work = async (signal: AbortSignal) => {
    await trimHistory(system, signal)
    await removeGivenUp(system)
    await windows.removeBefore(system.db, Date.now() - CLOCK_SKEW * 1000)
  }
  return keepRunning(system, 'trimming the history', work, HISTORY_PAUSE)
}
