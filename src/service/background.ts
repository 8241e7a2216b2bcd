import { setTimeout as sleep } from 'node:timers/promises'
import { RECOVERY_PAUSE } from '../limits.ts'
import type { System } from '../system.ts'

/** What goes on beside the requests, until it is stopped. */
export interface BackgroundTask {
  stop(): Promise<void>
}

/**
 * Does this work now and then, until stopped; if it fails, that is logged, and it is done again soon.
 * @param pause milliseconds
 */
export async function runPeriodically(
  system: System,
  name: string,
  work: () => Promise<unknown>,
  pause: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const next = await work().then(
      () => pause,
      (error: unknown) => {
        system.log.error(`${name} failed`, { reason: (error as Error).message })
        return RECOVERY_PAUSE
      },
    )
    await sleep(next, undefined, { signal }).catch(() => undefined)
  }
}
