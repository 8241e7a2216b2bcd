import { reconcileAll } from '../service/domains/reconcile.ts'
import { command } from './command.ts'

export const reconcile = command({
  summary: 'compare the zones at PowerDNS with the database, and repair those that differ',
  options: {
    contents: {
      type: 'boolean',
      help: 'compare what they hold, too, with a request for each zone; else their serials',
    },
  },
  nameserver: true,
  async run(system, _, { contents = false }) {
    const { doubtful, left } = await reconcileAll(system, { contents })
    const errors = new Map(left.map(({ zone, lastError }) => [zone, lastError ?? 'busy']))
    const outcome = (zone: string) => (errors.has(zone) ? `not repaired: ${errors.get(zone)!}` : 'repaired')
    return {
      lines:
        doubtful.length === 0
          ? ['All zones are as the database says.']
          : doubtful.map((zone) => `${zone}: ${outcome(zone)}`),
      json: doubtful.map((zone) => ({ zone, repaired: !errors.has(zone), error: errors.get(zone) ?? null })),
      done: left.length === 0,
    }
  },
})
