import { CLOCK_SKEW } from '../../limits.ts'
import { DAY, later, type Timestamp } from '../../time.ts'
import * as keys from '../../store/domains/keys.ts'
import type { RetiredKey } from '../../store/domains/keys.ts'
import * as windows from '../../store/windows.ts'
import { forget } from '../../store/zone/deleted-domains.ts'
import { removeBefore } from '../../store/zone/history.ts'
import type { System } from '../../system.ts'
import { keepRunning, type BackgroundTask } from '../../flow/background.ts'
import { removeGivenUp } from '../mails/mail-queue.ts'
import { delegationsOf, keyOfDelegation } from '../secrets/signing-keys.ts'

/** Entries of the history that are deleted at once when they are too old, and milliseconds between two searches. */
const HISTORY_BATCH = 1_000
const HISTORY_PAUSE = 600_000

/**
 * Deletes the entries of the history that are older than HISTORY_DAYS, and then forgets the domains that were deleted
 * before. Works in small batches, so that writes do not wait.
 */
export async function trimHistory(system: System, stopping?: AbortSignal): Promise<void> {
  const first = daysAgo(system, system.config.historyDays)
  for (const remove of [removeBefore, forget]) {
    while (stopping?.aborted !== true && (await remove(system.db, first, HISTORY_BATCH)) === HISTORY_BATCH);
  }
}

/** The days for which a retired key is kept: if its DS is not at the parent, and if nobody has asked the parent since. */
const RETIRED_DAYS = { checked: 7, unchecked: 30 }

/** Retired keys that are read at once. */
const KEYS_BATCH = 1_000

/** Erases the keys that retired long ago, unless the last check has found their DS at the parent. */
export async function eraseRetiredKeys(system: System, stopping?: AbortSignal): Promise<void> {
  const first = daysAgo(system, RETIRED_DAYS.checked)
  const unchecked = daysAgo(system, RETIRED_DAYS.unchecked)
  let last = { domainId: 0, dnskey: '' }
  while (stopping?.aborted !== true) {
    const batch = await keys.retiredBefore(system.db, first, last, KEYS_BATCH)
    for (const key of batch) {
      const isOver = key.observation === null ? key.retired < unchecked : !isAtParent(key, key.observation)
      if (isOver) await keys.erase(system.db, key)
    }
    if (batch.length < KEYS_BATCH) return
    last = batch.at(-1)!
  }
}

/** Reports whether a server of the parent has a DS with the tag and algorithm of a key. */
function isAtParent({ name, dnskey }: RetiredKey, observation: string): boolean {
  const { servers } = JSON.parse(observation) as { servers: { ds: string[] }[] }
  const own = new Set(delegationsOf(name!, dnskey).map(keyOfDelegation))
  return servers.some(({ ds }) => ds.some((content) => own.has(keyOfDelegation(content))))
}

function daysAgo(system: System, days: number): Timestamp {
  return later(system.now(), -days * DAY)
}

/** Periodically trims the history, erases retired keys, and deletes ended windows of throttling and mails given up. */
export function retentionTask(system: System): BackgroundTask {
  const work = async (signal: AbortSignal) => {
    await trimHistory(system, signal)
    await eraseRetiredKeys(system, signal)
    await removeGivenUp(system)
    await windows.removeBefore(system.db, Date.now() - CLOCK_SKEW * 1000)
  }
  return keepRunning(system, 'trimming the history', work, HISTORY_PAUSE)
}
