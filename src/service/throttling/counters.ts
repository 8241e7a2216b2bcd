import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import { reasonOf } from '../../errors.ts'
import { LASTING_WINDOW, type Scope } from '../../limits.ts'
import type { Log } from '../../log.ts'
import type { Config } from '../../settings/config.ts'
import type { Count, Window } from '../../store/windows.ts'
import * as store from '../../store/windows.ts'

/** Windows of each kind that a process keeps in memory, for all callers together: some 0.5 kB each. */
export const WINDOWS_MAX = 100_000

export type { Window }

/** A window and its state. */
export interface Counted extends Count {
  window: Window
}

/** Counts requests in windows that begin with the first counted request (contract §14). */
export interface Counters {
  /**
   * Counts a request in all these windows, unless one is full. Resolves with their states before, perhaps only those of
   * full ones.
   */
  count(windows: Window[]): Promise<Counted[]>
  read(windows: Window[]): Promise<Counted[]>
  /** Takes back a request that was counted in these windows, unless they have ended. */
  uncount(counted: Counted[]): Promise<void>
}

/** Seconds between two warnings that Postgres has failed to count. */
const COUNTING_WARNING_PAUSE = 60

/** Full windows that a process remembers, and for how many milliseconds: others may take requests back. */
const FULL_MAX = 10_000
const FULL_TIME = 1_000
const WARNINGS: Window = { scope: 'user', key: 'warnings', quota: 1, length: COUNTING_WARNING_PAUSE }

export function isFull({ window, used }: Counted): boolean {
  return used >= window.quota
}

/**
 * Creates the counters of the configured store. While Postgres fails, requests are counted in memory.
 * @param db a separate pool with a time limit, so that slow statements do not occupy the connections of other requests
 * @param metrics counts the decisions that are made in memory because Postgres fails
 * @returns undefined if throttling is off
 */
export function createCounters(
  { throttle, throttleStore }: Config,
  db: Pool,
  log: Log,
  metrics?: { count(name: 'zoneplane_counted_in_memory_total', labels: object): void },
): Counters | undefined {
  if (!throttle) return undefined
  const memory = new Memory()
  if (throttleStore === 'memory') return memory
  // A flood asks Postgres once a second.
  const full = new LRUCache<string, Counted>({ max: FULL_MAX, ttl: FULL_TIME })
  const shared = async (windows: Window[], counts: Promise<Count[]>, otherwise: () => Promise<Counted[]>) => {
    try {
      const counted = (await counts).map((count, i) => ({ window: windows[i]!, ...count }))
      for (const each of counted) if (isFull(each)) full.set(each.window.key, each)
      return counted
    } catch (error) {
      metrics?.count('zoneplane_counted_in_memory_total', {})
      const [warnings] = await memory.count([WARNINGS])
      if (!isFull(warnings!))
        log.warn('Postgres does not count requests; counting in memory', { reason: reasonOf(error) })
      return otherwise()
    }
  }
  return {
    async count(windows) {
      const known = windows
        .map(({ key }) => full.get(key))
        .filter((each) => each !== undefined && each.ends > Date.now())
      if (known.length > 0) return known as Counted[]
      return shared(windows, store.count(db, windows, Date.now()), () => memory.count(windows))
    },
    read: (windows) => shared(windows, store.read(db, windows, Date.now()), () => memory.read(windows)),
    async uncount(counted) {
      await memory.uncount(counted)
      const keys = counted.map(({ window }) => window.key)
      const ends = counted.map((each) => each.ends)
      // Otherwise the request stays counted.
      await store.uncount(db, keys, ends).catch(() => undefined)
    },
  }
}

/** The scopes that count wrong passwords and codes. */
const FAILURES: ReadonlySet<Scope> = new Set(['login_failure', 'login_failure_per_account', 'totp_failure'])

/**
 * The counts of this process. Beyond WINDOWS_MAX windows of a kind, it forgets the least recently used ones; those of
 * failures and the lasting ones apart. So cheap requests from many addresses give nobody another try of a password, and
 * no token its requests of the day again.
 */
export class Memory implements Counters {
  readonly #failures = new LRUCache<string, Count>({ max: WINDOWS_MAX })
  readonly #lasting = new LRUCache<string, Count>({ max: WINDOWS_MAX })
  readonly #others = new LRUCache<string, Count>({ max: WINDOWS_MAX })

  /** Nothing is awaited between reading and counting, so simultaneous requests do not take the same place. */
  async count(windows: Window[]): Promise<Counted[]> {
    const before = this.#read(windows)
    if (before.some(isFull)) return before
    for (const { window, used, ends } of before) this.#countsOf(window).set(window.key, { used: used + 1, ends })
    return before
  }

  async read(windows: Window[]): Promise<Counted[]> {
    return this.#read(windows)
  }

  async uncount(counted: Counted[]): Promise<void> {
    for (const { window, ends } of counted) {
      const count = this.#countsOf(window).get(window.key)
      if (count?.ends === ends) count.used--
    }
  }

  #countsOf({ scope, length }: Window): LRUCache<string, Count> {
    if (FAILURES.has(scope)) return this.#failures
    return length > LASTING_WINDOW ? this.#lasting : this.#others
  }

  #read(windows: Window[]): Counted[] {
    const now = Date.now()
    return windows.map((window) => {
      const count = this.#countsOf(window).get(window.key)
      // A window that ends later was begun before the clock was set back.
      const isRunning = count !== undefined && count.ends > now && count.ends <= now + 1000 * window.length
      return isRunning ? { window, ...count } : { window, used: 0, ends: now + 1000 * window.length }
    })
  }
}
