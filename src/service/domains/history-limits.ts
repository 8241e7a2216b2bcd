import { Busy } from '../../errors.ts'
import { HISTORIES_FACTOR } from '../../limits.ts'
import { exclusively } from '../../store/turns.ts'
import * as store from '../../store/zone/history-octets.ts'
import type { System } from '../../system.ts'
import type { Scan } from '../work/work.ts'

/** Milliseconds between two looks at the sizes of the histories. */
const PAUSE = 60_000

/** Keeps the histories of each account within its limit of octets (contract §15.5). */
export const HISTORY_LIMITS: Scan = { name: 'limiting histories', pause: PAUSE, run: limitHistories }

/** Looks once at the sizes of all histories, unless another process does, and deletes the oldest entries of those too large. */
export async function limitHistories(system: System, stopping?: AbortSignal): Promise<void> {
  await exclusively(system.db, 'limits of histories', () => limitAll(system, stopping))
}

async function limitAll(system: System, stopping: AbortSignal | undefined): Promise<void> {
  const { config, db, log, metrics } = system
  const limit = config.limitHistoryOctets ?? HISTORIES_FACTOR * config.limitOctets
  const { octets, uncounted, above } = await store.sum(db, limit)
  metrics?.set('zoneplane_history_octets', {}, octets)
  for (const account of above) {
    const removed = await limitAccount(system, account, stopping)
    if (removed === 0) continue
    metrics?.count('zoneplane_history_trimmed_total', {}, removed)
    log.info('history trimmed', { account: account.ownerId, entries: removed })
  }
  if (uncounted > 0) await store.count(db, stopping)
}

/** Deletes the oldest entries of the largest histories of an account. @returns their number */
async function limitAccount(
  { db }: System,
  { ownerId, limit }: store.Sum['above'][number],
  stopping: AbortSignal | undefined,
): Promise<number> {
  let all = 0
  for (const excess of await store.excesses(db, ownerId, limit)) {
    let isDone = false
    while (!isDone && stopping?.aborted !== true) {
      const { removed, exceeds } = await store.trim(db, excess).catch(orBusy)
      all += removed
      isDone = removed === 0 || !exceeds
    }
  }
  return all
}

/** A domain that is being written all the time has its turn with the next look. */
function orBusy(error: unknown) {
  if (error instanceof Busy) return { removed: 0, exceeds: true }
  throw error
}
