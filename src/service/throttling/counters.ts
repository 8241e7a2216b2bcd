import type { Count, Meter } from '../../store/throttle.ts'

export type { Count, Meter }
export type { Window } from '../../store/throttle.ts'

/** Where requests are counted (contract §14): a sliding window, in which each counted request is remembered. */
export interface Counters {
  /**
   * Counts a request at `now` (milliseconds since the epoch) under all meters, if every rate of each allows it; else
   * under none. With `look` it only says how it stands. Undefined if it cannot tell now.
   */
  count(meters: readonly Meter[], now: number, options?: { look?: boolean }): Promise<Count | undefined>
  close(): Promise<void>
}
