import { LRUCache } from 'lru-cache'
import type { Pool, QueryConfig } from 'pg'
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  type RateLimiterAbstract,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import type { Config } from '../../config.ts'
import { reasonOf } from '../../errors.ts'
import { WINDOWS_MAX } from '../../limits.ts'
import type { Log } from '../../log.ts'

/** Seconds between two warnings that Postgres has failed to count. */
const COUNTING_WARNING_PAUSE = 60

/** Options that only count: each call passes the length of its window, and the caller knows the limit. */
const COUNTING_ONLY = { points: 0, duration: 0, keyPrefix: '' }

/**
 * Counts requests (contract §14) in windows that begin with the first request of a key. `penalty` counts a request in a
 * window of `customDuration` seconds; `get` reads the count. While Postgres fails, requests are counted in memory.
 * @param db a separate pool with a time limit, so that slow statements do not occupy the connections of other requests
 * @returns undefined if throttling is off
 */
export function createCounters(
  { throttle, throttleStore }: Config,
  db: Pool,
  log: Log,
): RateLimiterAbstract | undefined {
  if (!throttle) return undefined
  const memory = new BoundedMemory(COUNTING_ONLY)
  if (throttleStore === 'memory') return memory
  const warn = async (error: unknown): Promise<never> => {
    const warnings = await memory.penalty('warnings', 1, { customDuration: COUNTING_WARNING_PAUSE })
    if (warnings.consumedPoints === 1) log.warn('requests are counted in memory', { reason: reasonOf(error) })
    throw error
  }
  return new RateLimiterPostgres({
    ...COUNTING_ONLY,
    storeClient: { query: (statement: QueryConfig) => db.query(statement).catch(warn) },
    storeType: 'pool',
    tableName: 'throttle',
    tableCreated: true,
    insuranceLimiter: memory,
  })
}

/** The counts of this process. Beyond WINDOWS_MAX keys, it forgets the least recently counted ones. */
export class BoundedMemory extends RateLimiterMemory {
  readonly #keys = new LRUCache<string, true>({
    max: WINDOWS_MAX,
    dispose: (_, key) => void this.delete(key),
  })

  override penalty(key: string, points?: number, options?: Record<string, unknown>): Promise<RateLimiterRes> {
    this.#keys.set(key, true)
    return super.penalty(key, points, options)
  }
}
