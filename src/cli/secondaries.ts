import type { Command } from 'commander'
import { reportOf } from '../service/domains/serving-status.ts'
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
}
