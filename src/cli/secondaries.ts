import type { Command } from 'commander'
import { reportOf } from '../service/domains/serving-status.ts'
import { publishNow, removeCatalog } from '../service/secondaries/catalogs.ts'
import { type AddCommand, shortTime, table, tellProgress } from './command.ts'

export function addSecondaries(program: Command, add: AddCommand): void {
  add(program, 'secondaries', {}, async (system) => {
    const reports = await reportOf(system, tellProgress)
    const head = ['secondary', 'insync', 'pending', 'oldest pending', 'not answered']
    const rows = reports.map(({ name, insync, pending, unreachable, oldest }) => [
      ...[name, insync, pending, oldest === null ? '' : shortTime(oldest), unreachable],
    ])
    return {
      lines: table(head, rows, 'SECONDARIES names none.'),
      json: reports,
      succeeded: reports.every(({ pending, unreachable }) => pending + unreachable === 0),
    }
  }).description('ask the secondaries (SECONDARIES) about all zones, and report how many zones of each have caught up')
  const group = program.command('catalog').description('the catalog zone, which lists the zones for secondaries')
  add(group, 'publish', { nameserver: true }, async (system, { force = false }: { force?: boolean }) => {
    const report = await publishNow(system, force)
    if (report === undefined) return { lines: ['CATALOG_ZONE names none.'], json: null }
    const { catalog, ...numbers } = report
    const hint = 'Secondaries delete the zones of removed members. --force removes the held members.'
    return {
      lines: [
        ...table(['catalog zone', 'members', 'added', 'removed', 'held'], [[catalog, ...Object.values(numbers)]]),
        ...(numbers.held > 0 ? [hint] : []),
      ],
      json: report,
      succeeded: numbers.held === 0,
    }
  })
    .description(
      'bring the catalog zone (CATALOG_ZONE) up to date; the service does so itself, but removes few members at once whose domains nobody has deleted',
    )
    .option('--force', 'remove any number of members, and recreate a missing catalog zone despite missing zones', false)
  add(group, 'remove <name>', { nameserver: true }, async (system, name: string) => {
    await removeCatalog(system, name)
    return { lines: [`${name} is removed`], json: { name } }
  }).description('delete a catalog zone at PowerDNS that CATALOG_ZONE no longer names; secondaries keep its members')
}
