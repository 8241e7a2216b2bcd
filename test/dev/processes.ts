import { setTimeout as sleep } from 'node:timers/promises'
import { identify } from '../../dev/running.ts'

/** Resolves once no process has this PID. */
export async function isGone(pid: number): Promise<void> {
  while (identify(pid)) await sleep(20)
}

/** Ignores progress messages. */
export function quietly(): void {
  // Progress is for people.
}
