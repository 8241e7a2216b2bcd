import { mkdtempSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify } from '../../dev/running.ts'

/** A new folder that the servers may pass through; the test run removes it, and ends what still runs in it. */
export function newFolder(): string {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'dev-'))
  chmodSync(folder, 0o711)
  return folder
}

/** Resolves once there is no process of this number. */
export async function isGone(pid: number): Promise<void> {
  while (identify(pid)) await sleep(20)
}

/** Says nothing. */
export function quietly(): void {
  // Progress is for people.
}
