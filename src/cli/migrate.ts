import type { Command } from 'commander'
import type { AddCommand } from './command.ts'

export function addMigrate(program: Command, add: AddCommand): void {
  // Every command does this before its work.
  add(program, 'migrate', 'bring the schema of the database up to date; the start of the service does it, too', () =>
    Promise.resolve({ lines: ['The schema is up to date.'], json: { migrated: true } }),
  )
}
