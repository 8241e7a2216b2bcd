import type { Command } from 'commander'
import { reconcileAll } from '../service/repair/reconcile.ts'
import type { System } from '../system.ts'
import { tellProgress, type AddCommand, type Outcome } from './command.ts'

export function addRebuild(program: Command, add: AddCommand): void {
  add(
    program,
    'rebuild',
    'fill a PowerDNS that has lost its zones from the database, with their keys; can be stopped and begun again',
    rebuild,
    { nameserver: true },
  )
}

/** Makes all zones at PowerDNS that have another serial than the database, or are not there; tells the progress. */
export async function rebuild(system: System): Promise<Outcome> {
  // A line for each zone would hide the progress.
  system.log.level = 'error'
  const tell = (left: number, all: number) => {
    tellProgress(all - left, all)
  }
  const { doubtful, left } = await reconcileAll(system, { contents: false, tell })
  const made = doubtful.length - left.length
  const failed = left.map(({ zone, lastError }) => ({ zone, error: lastError ?? 'busy' }))
  return {
    lines: [
      made === 0 ? 'No zone had to be made.' : `${made} zones are as the database says again.`,
      ...failed.map(({ zone, error }) => `${zone}: not repaired: ${error}`),
    ],
    json: { repaired: made, failed },
    succeeded: left.length === 0,
  }
}
