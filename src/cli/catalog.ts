import type { Command } from 'commander'
import { publishNow } from '../service/secondaries/catalogs.ts'
import { table, type AddCommand } from './command.ts'

export function addCatalog(program: Command, add: AddCommand): void {
  const group = program
    .command('catalog')
    .description('the catalog zones, which tell secondaries which zones there are')
  add(
    group,
    'publish',
    'make the catalog zones (CATALOG_ZONE) what the domains say; the service does so by itself, but removes few members at once',
    async (system, { force = false }: { force?: boolean }) => {
      const reports = await publishNow(system, force)
      const rows = reports.map(({ catalog, ...numbers }) => [catalog, ...Object.values(numbers).map(String)])
      const isHeld = reports.some(({ held }) => held > 0)
      return {
        lines: [
          ...(rows.length === 0
            ? ['CATALOG_ZONE names none.']
            : table(['catalog zone', 'members', 'added', 'removed', 'held'], rows)),
          ...(isHeld
            ? ['Secondaries delete the zones of members that leave. --force removes those that are held.']
            : []),
        ],
        json: reports,
        succeeded: !isHeld,
      }
    },
    { nameserver: true },
  ).option('--force', 'remove any number of members, and make a missing catalog zone though zones are missing', false)
}
