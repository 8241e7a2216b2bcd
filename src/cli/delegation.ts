import type { Command } from 'commander'
import { checkAll, checkNamed } from '../service/delegation/checking.ts'
import { type AddCommand, requireOneOf, table, tellProgress } from './command.ts'

export function addDelegation(program: Command, add: AddCommand): void {
  const group = program.command('delegation').description('check at the parent zones whether domains are secure')
  add(group, 'check [names...]', { nameserver: true }, async (system, names: string[], { all }: { all: boolean }) => {
    requireOneOf(names, all)
    const reports = all ? await checkAll(system, tellProgress) : await checkNamed(system, names)
    const rows = reports.flatMap(({ name, state, problems: [first = '', ...others] }) => [
      [name, state, first],
      ...others.map((problem) => ['', '', problem]),
    ])
    return {
      lines: table(['DOMAIN', 'STATE', 'PROBLEMS'], rows),
      json: reports,
      succeeded: reports.every(({ state }) => state !== 'mismatch' && state !== 'unknown'),
    }
  })
    .description(
      'ask all servers of the parent zones now; fails if a domain is `mismatch` (validating resolvers reject it) or `unknown`',
    )
    .option('--all', 'check all domains; in the background, no other process does so meanwhile', false)
}
