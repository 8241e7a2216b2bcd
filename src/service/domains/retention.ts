import { CLOCK_SKEW } from '../../limits.ts'
import { eraseRetired } from '../../store/domains/keys.ts'
import * as windows from '../../store/windows.ts'
import { removeGivenUp } from '../../store/work.ts'
import { forget } from '../../store/zone/deleted-domains.ts'
import { removeBefore } from '../../store/zone/history-octets.ts'
import type { System } from '../../system.ts'
import { DAY, later, type Timestamp } from '../../time.ts'
import { NIL_UUID } from '../ids.ts'
import type { Scan } from '../work/work.ts'

/** Domains and keys that are deleted at once when they are too old, and milliseconds between two searches. */
const BATCH = 1_000
const PAUSE = 600_000

/** Days for which work that was given up is kept; a mail's has an address in its error. */
const GIVEN_UP_DAYS = 30

/**
 * Deletes the entries of the history that are older than HISTORY_DAYS, forgets the domains that were deleted before, and
 * erases the keys that retired before. Works in small batches, so that writes do not wait.
 */
export async function trimHistory(system: System, stopping?: AbortSignal): Promise<void> {
  const first = daysAgo(system, system.config.historyDays)
  let last: string | undefined = NIL_UUID
  while (last !== undefined && stopping?.aborted !== true) last = await removeBefore(system.db, first, last)
  for (const remove of [forget, eraseRetired]) {
    while (stopping?.aborted !== true && (await remove(system.db, first, BATCH)) === BATCH);
  }
}

function daysAgo(system: System, days: number): Timestamp {
  return later(system.now(), -days * DAY)
}

/** Trims the history, and deletes ended windows of throttling and work that was given up. */
export const RETENTION: Scan = {
  name: 'history trimming',
  pause: PAUSE,
  async run(system, stopping) {
    await trimHistory(system, stopping)
    await removeGivenUp(system.db, daysAgo(system, GIVEN_UP_DAYS))
    await windows.removeBefore(system.db, Date.now() - CLOCK_SKEW * 1000)
  },
}
