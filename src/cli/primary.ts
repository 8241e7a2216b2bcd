import type { Command } from 'commander'
import { changeTo, forget, listPrimaries, sync } from '../service/operation/primaries.ts'
import { type AddCommand, table, tellProgress } from './command.ts'

export function addPrimary(program: Command, add: AddCommand): void {
  const group = program.command('primary').description('the PowerDNS in PDNS_API_URL, of which one is active')
  add(group, 'list', {}, async (system) => {
    const all = await listPrimaries(system)
    const rows = all.map(({ name, active, answers, behind, lacksZones }) => [
      name,
      active ? 'active' : 'standby',
      answers ? 'yes' : 'no',
      behind ?? (lacksZones ? 'lacks zones' : 'same data'),
    ])
    return { lines: table(['primary', 'state', 'answers', 'zones to be copied'], rows), json: all }
  }).description('list them, and the number of zones that wait to be copied to each that has a database of its own')
  add(group, 'use <name>', {}, async (system, name: string, options: { force: boolean }) => {
    await changeTo(system, name, options)
    return { lines: [`${name} is the active primary`], json: { name } }
  })
    .description('make one the active one; the services follow within a second')
    .option('--force', 'also if it lacks zones, which the services then repair', false)
  add(group, 'sync <name>', { nameserver: true }, async (system, name: string) => {
    const { all, left } = await sync(system, name, tellProgress)
    const lines =
      left === 0 ? [`${name} has all ${all} zones`] : [`${left} of ${all} zones could not be copied to ${name} yet`]
    return { lines, json: { name, zones: all, left }, succeeded: left === 0 }
  }).description('copy all zones to one with a database of its own; from then on, the services keep it equal')
  add(group, 'forget <name>', {}, async (system, name: string) => {
    await forget(system, name)
    return { lines: [`no zones are copied to ${name} any more`], json: { name } }
  }).description('end the copying to one')
}
