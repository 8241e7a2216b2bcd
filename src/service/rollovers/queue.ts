import { reasonOf } from '../../errors.ts'
import * as store from '../../store/domains/rollovers.ts'
import type { System } from '../../system.ts'
import { accessOfOperator, begin, DEFAULT_ALGORITHM, type KeyAlgorithm, type Wish } from './rollovers.ts'

// Rollovers of all domains wait in a queue, so that not too many are under way at a time.

/** Seconds after which a rollover that could not begin is tried again. */
const RETRY_PAUSE = 300

/**
 * Queues a rollover of every domain that has none; for the operator.
 * @param atMost no other begins while so many are under way
 * @returns the number of queued rollovers
 */
export async function enqueueAll(
  system: System,
  { algorithm = DEFAULT_ALGORITHM, emergency }: Omit<Wish, 'isReturn'>,
  atMost: number,
): Promise<number> {
  return store.enqueueAll(system.db, { algorithm, emergency, atMost }, system.now())
}

/** Forgets all rollovers that have not begun, and returns their number; for the operator. */
export async function emptyQueue({ db }: System): Promise<number> {
  return store.emptyQueue(db)
}

/**
 * Begins queued rollovers, as many as may be under way. One that fails stays in the queue. They begin one after the other:
 * each takes the place of a write of the domain's owner.
 */
export async function beginQueued(system: System, limit: number, stopping: AbortSignal): Promise<void> {
  for (const { domainId, name, algorithm, emergency } of await store.startable(system.db, limit)) {
    try {
      const wish = { algorithm: algorithm as KeyAlgorithm, emergency }
      await begin(await accessOfOperator(system, name), wish, { isQueued: true })
    } catch (error) {
      if (stopping.aborted) return
      system.log.error('key rollover could not begin; retrying', { zone: name, reason: reasonOf(error) })
      await store.postpone(system.db, domainId, RETRY_PAUSE)
    }
  }
}
