import type { Command } from 'commander'
import { reportOf } from '../service/domains/serving-status.ts'
import { publishNow, removeCatalog } from '../service/secondaries/catalogs.ts'
import { shortTime, table, tellProgress, type AddCommand } from './command.ts'

export function addSecondaries(program: Command, add: AddCommand): void {
  add(
    program,
    'secondaries',
    'ask the secondaries (SECONDARIES) about all zones, and tell how many each serves as the database says',
    async (system) => {
      const reports = await reportOf(system, tellProgress)
      const rows = reports.map(({ name, insync, pending, unreachable, oldest }) => [
        ...[name, insync, pending, oldest === null ? '' : shortTime(oldest), unreachable],
      ])
      return {
        lines:
          rows.length === 0
            ? ['SECONDARIES names none.']
            : table(['secondary', 'insync', 'pending', 'oldest pending', 'not answered'], rows),
        json: reports,
        succeeded: reports.every(({ pending, unreachable }) => pending + unreachable === 0),
      }
    },
  )
  const group = program
    .command('catalog')
    .description('the catalog zone, which tells secondaries which zones there are')
  add(
    group,
    'publish',
    'make the catalog zone (CATALOG_ZONE) what the domains say; the service does so by itself, but removes few members at once',
    async (system, { force = false }: { force?: boolean }) => {
      const report = await publishNow(system, force)
      if (report === undefined) return { lines: ['CATALOG_ZONE names none.'], json: null }
      const { catalog, ...numbers } = report
      const hint = 'Secondaries delete the zones of members that leave. --force removes those that are held.'
      return {
        lines: [
          ...table(['catalog zone', 'members', 'added', 'removed', 'held'], [[catalog, ...Object.values(numbers)]]),
          ...(numbers.held > 0 ? [hint] : []),
        ],
        json: report,
        succeeded: numbers.held === 0,
      }
    },
    { nameserver: true },
  ).option('--force', 'remove any number of members, and make a missing catalog zone though zones are missing', false)
  add(
    group,
    'remove <name>',
    'delete a catalog zone at PowerDNS that CATALOG_ZONE does not name any more; secondaries keep its members',
    async (system, name: string) => {
      await removeCatalog(system, name)
      return { lines: [`${name} is removed`], json: { name } }
    },
    { nameserver: true },
  )
}
