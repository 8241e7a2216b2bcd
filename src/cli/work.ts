import type { Command } from 'commander'
import { drop, hasten, list } from '../service/work/work.ts'
import { type AddCommand, shortTime, table } from './command.ts'

interface Options {
  kind?: string
}

export function addWork(program: Command, add: AddCommand): void {
  const group = program.command('work').description('what is to be done later, such as mails')
  const of = (command: Command) => command.option('--kind <kind>', 'only work of this kind, such as mail')
  of(
    add(group, 'list', {}, async (system, { kind }: Options) => {
      const all = await list(system, kind)
      const rows = all.map(({ kind, subject, accountId, due, claimed, attempts, lastError }) => {
        const time = claimed === null ? (due === null ? 'given up' : shortTime(due)) : 'now'
        return [kind, subject, accountId ?? '', time, attempts, lastError ?? '']
      })
      return {
        lines: table(['kind', 'subject', 'account', 'due', 'attempts', 'error'], rows, 'Nothing is to be done.'),
        json: all.map(({ accountId, lastError, ...shown }) => ({ ...shown, account: accountId, error: lastError })),
      }
    }).description('list what is to be done, and what was given up in the last 30 days'),
  )
  of(
    add(group, 'run', {}, async (system, { kind }: Options) => {
      const number = await hasten(system, kind)
      return { lines: [`${number} due now`], json: { due: number } }
    }).description('let the service do now what waits for its time; it begins within a second'),
  )
  add(group, 'drop', {}, async (system, { kind }: Required<Options>) => {
    const number = await drop(system, kind)
    return { lines: [`${number} dropped`], json: { dropped: number } }
  })
    .description('delete what is to be done of a kind, and what was given up')
    .requiredOption('--kind <kind>', 'the kind, such as mail')
}
