import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify, recall, type Running } from '../../src/private-servers/running.ts'

/** Resolves once no process has this PID. */
export async function isGone(pid: number): Promise<void> {
  while (identify(pid)) await sleep(20)
}

/** Ignores progress messages. */
export function quietly(): void {
  // Progress is for people.
}

/** Postgres and PowerDNS of a data folder, each if it runs. */
export function processes(folder: string): (Running | undefined)[] {
  return ['postgres', 'pdns'].map((name) => recall(join(folder, name, 'process')))
}
