import type { Command } from 'commander'
import { changeTo, listPrimaries } from '../service/operation/primaries.ts'
import { type AddCommand, table } from './command.ts'

export function addPrimary(program: Command, add: AddCommand): void {
  const group = program.command('primary').description('the PowerDNS in PDNS_API_URL, of which one is active')
  add(group, 'list', {}, async (system) => {
    const all = await listPrimaries(system)
    const rows = all.map(({ name, active, answers, behind }) => [
      ...[name, active ? 'active' : 'standby', answers ? 'yes' : 'no', behind ?? ''],
    ])
    return { lines: table(['primary', 'state', 'answers', 'zones that differ'], rows), json: all }
  }).description('list them, and the number of zones that differ from the database at each')
  add(group, 'use <name>', {}, async (system, name: string, options: { force: boolean }) => {
    await changeTo(system, name, options)
    return { lines: [`${name} is the active primary`], json: { name } }
  })
    .description('make one the active one; the services follow within a second')
    .option('--force', 'also if zones differ there, which the services then repair', false)
}
