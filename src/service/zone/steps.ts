import type { System } from '../../system.ts'

/** The steps of a write (architecture.md). */
type Step = 'turn' | 'lock' | 'plan' | 'mark' | 'push' | 'commit'

/** Measures the time of a step, also if it fails. */
export async function timed<T>(system: System, step: Step, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    return await work()
  } finally {
    ended(system, step, start)
  }
}

/** Measures the time since the start of a step, by performance.now(). */
export function ended({ metrics }: System, step: Step, start: number): void {
  metrics?.time('zoneplane_write_step_duration_seconds', { step }, start)
}
