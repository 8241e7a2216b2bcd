import type { Pool } from 'pg'
import { COUNTING_PAUSE, COUNTING_TIME, COUNTS_SWEEP, STORED_COUNTS_MAX } from '../../limits.ts'
import type { Log } from '../../log.ts'
import * as store from '../../store/throttle.ts'
import type { Count, Counters, Meter } from './counters.ts'

/**
 * Counts that all processes on one database share; one statement for each request. When they are not to be had in
 * time, they are left alone for a while and nobody is kept waiting.
 */
export class PostgresCounters implements Counters {
  readonly #db: Pool
  readonly #log: Log
  #nextSweep = 0
  #sweeping: Promise<void> | undefined
  /** By the process' own clock, in milliseconds. */
  #pausedUntil = 0

  /** @param db a pool of its own, so that statements that hang take no connection from others; closed with this */
  constructor(db: Pool, log: Log) {
    this.#db = db
    this.#log = log
  }

  async count(meters: readonly Meter[], now: number, { look = false } = {}): Promise<Count | undefined> {
    if (performance.now() < this.#pausedUntil) return undefined
    try {
      const count = await inTime(store.count(this.#db, meters, now, look))
      this.#sweepIfDue(now)
      return count
    } catch (error) {
      this.#pause(error)
      return undefined
    }
  }

  async close(): Promise<void> {
    await this.#sweeping
    await this.#db.end()
  }

  #sweepIfDue(now: number): void {
    if (now < this.#nextSweep) return
    this.#nextSweep = now + COUNTS_SWEEP
    this.#sweeping = store.sweep(this.#db, now, STORED_COUNTS_MAX).catch((error: unknown) => {
      this.#log.warn('counted requests not swept', { reason: (error as Error).message })
    })
  }

  #pause(error: unknown): void {
    // Of requests that fail together, one tells.
    if (performance.now() < this.#pausedUntil) return
    this.#pausedUntil = performance.now() + COUNTING_PAUSE
    this.#log.warn('requests are not throttled', { reason: (error as Error).message, ms: COUNTING_PAUSE })
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${COUNTING_TIME} ms`))
    }, COUNTING_TIME)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
