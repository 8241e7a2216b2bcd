import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import type { Bell } from './bell.ts'

/** Milliseconds after which failed background work is retried, and a start that waits for Postgres. */
export const RECOVERY_PAUSE = 1_000

/** Work that runs besides the requests until it is stopped. */
export interface BackgroundTask {
  stop(): Promise<void>
}

/**
 * Repeats `work` with pauses until `signal` aborts. After a failure it logs the reason and pauses for RECOVERY_PAUSE.
 * @param work may return its pause
 * @param pause milliseconds
 * @param bell ends a pause; if it rings while `work` runs, the next one. The code that aborts `signal` also rings it
 */
export async function runPeriodically(
  log: Log,
  name: string,
  work: () => Promise<unknown>,
  pause: number,
  signal: AbortSignal,
  bell?: Bell,
): Promise<void> {
  while (!signal.aborted) {
    const waking = bell?.next ?? signal
    const next = await work().then(
      (own) => (typeof own === 'number' ? own : pause),
      (error: unknown) => {
        log.error(`${name} failed`, { reason: (error as Error).message })
        return RECOVERY_PAUSE
      },
    )
    await sleep(next, undefined, { signal: waking }).catch(() => undefined)
  }
}

/**
 * Runs `work` periodically until the task is stopped, which waits for the end of a run.
 * @param work gets a signal that aborts when it should end early
 * @param pause milliseconds
 */
export function keepRunning(
  log: Log,
  name: string,
  work: (stopping: AbortSignal) => Promise<unknown>,
  pause: number,
): BackgroundTask {
  const stopping = new AbortController()
  const { signal } = stopping
  const loop = runPeriodically(log, name, () => work(signal), pause, signal)
  return {
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
