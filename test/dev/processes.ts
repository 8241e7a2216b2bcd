import { setTimeout as sleep } from 'node:timers/promises'
import { identify } from '../../dev/running.ts'

/** Resolves once there is no process of this number. */
export async function isGone(pid: number): Promise<void> {
  while (identify(pid)) await sleep(20)
}

/** Takes progress messages and prints nothing. */
export function quietly(): void {
  // Progress is for people.
}
