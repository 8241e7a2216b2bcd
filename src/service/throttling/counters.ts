import { LRUCache } from 'lru-cache'
import type { Pool, QueryConfig } from 'pg'
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  type RateLimiterAbstract,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import type { Config } from '../../config.ts'
import { COUNTING_WARNING_PAUSE, WINDOWS_MAX } from '../../limits.ts'
import type { Log } from '../../log.ts'

/** Each call brings the length of its window, and the caller knows how many requests are allowed. */
const COUNTING_ONLY = { points: 0, duration: 0, keyPrefix: '' }

/**
 * Where requests are counted (contract §14), in windows that begin with the first request of a key: `penalty` counts
 * one, with the window's seconds as `customDuration`, and `get` looks. Undefined: they are not counted.
 * What Postgres cannot count is counted in memory.
 * @param db a pool of its own, with a time limit, so that statements that hang take no connection from others
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
    if (warnings.consumedPoints === 1) log.warn('requests are counted in memory', { reason: (error as Error).message })
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

/** Counts of this process; beyond WINDOWS_MAX keys it forgets the ones that no request was counted under for longest. */
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
