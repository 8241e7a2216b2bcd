import type { Command } from 'commander'
import { reconcileAll } from '../service/repair/reconcile.ts'
import type { System } from '../system.ts'
import { type AddCommand, type Outcome, tellProgress } from './command.ts'

export function addReconcile(program: Command, add: AddCommand): void {
  add(program, 'reconcile', { nameserver: true }, async (system, { contents = false }: { contents?: boolean }) => {
    const zones = await repair(system, { contents })
    return {
      lines: zones.length === 0 ? ['All zones are as the database says.'] : zones.map(lineOf),
      json: zones,
      succeeded: zones.every(({ repaired }) => repaired),
    }
  })
    .description('compare the zones at PowerDNS with the database, and repair those that differ')
    .option('--contents', 'compare contents, with one request per zone, not only serials')
  add(program, 'rebuild', { nameserver: true }, rebuild).description(
    'recreate lost zones at PowerDNS from the database, with their keys; you can stop it and start it again',
  )
}

/** Rewrites all zones that are missing at PowerDNS or have another serial than the database; reports the progress. */
export async function rebuild(system: System): Promise<Outcome> {
  // A line for each zone would hide the progress.
  system.log.level = 'error'
  const zones = await repair(system, { contents: false, tell: tellProgress })
  const failed = zones.filter(({ repaired }) => !repaired)
  const made = zones.length - failed.length
  return {
    lines: [
      made === 0 ? 'No zone had to be made.' : `${made} zones are as the database says again.`,
      ...failed.map(lineOf),
    ],
    json: { repaired: made, failed: failed.map(({ zone, error }) => ({ zone, error })) },
    succeeded: failed.length === 0,
  }
}

interface Repair {
  zone: string
  repaired: boolean
  error: string | null
}

async function repair(system: System, options: Parameters<typeof reconcileAll>[1]): Promise<Repair[]> {
  const { doubtful, left } = await reconcileAll(system, options)
  const errors = new Map(left.map(({ zone, lastError }) => [zone, lastError ?? 'busy']))
  return doubtful.map((zone) => ({ zone, repaired: !errors.has(zone), error: errors.get(zone) ?? null }))
}

function lineOf({ zone, error }: Repair): string {
  return `${zone}: ${error === null ? 'repaired' : `not repaired: ${error}`}`
}
