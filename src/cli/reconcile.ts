import type { Command } from 'commander'
import { reconcileAll } from '../service/repair/reconcile.ts'
import type { AddCommand } from './command.ts'

export function addReconcile(program: Command, add: AddCommand): void {
  add(
    program,
    'reconcile',
    'compare the zones at PowerDNS with the database, and repair those that differ',
    async (system, { contents = false }: { contents?: boolean }) => {
      const { doubtful, left } = await reconcileAll(system, { contents })
      const errors = new Map(left.map(({ zone, lastError }) => [zone, lastError ?? 'busy']))
      const outcome = (zone: string) => (errors.has(zone) ? `not repaired: ${errors.get(zone)!}` : 'repaired')
      return {
        lines:
          doubtful.length === 0
            ? ['All zones are as the database says.']
            : doubtful.map((zone) => `${zone}: ${outcome(zone)}`),
        json: doubtful.map((zone) => ({ zone, repaired: !errors.has(zone), error: errors.get(zone) ?? null })),
        succeeded: left.length === 0,
      }
    },
    { nameserver: true },
  ).option('--contents', 'compare contents, with one request per zone, not only serials')
}
