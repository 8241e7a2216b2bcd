import { Command, CommanderError, type OutputConfiguration } from 'commander'
import {
  Conflict,
  Denied,
  Invalid,
  NameserverFailure,
  NotFound,
  printable,
  StartError,
  textOf,
  Unavailable,
} from '../errors.ts'
import { ConfigError } from '../settings/config.ts'
import type { System } from '../system.ts'
import { type AddCommand, message as parseMessage, type Needs } from './command.ts'
import { addCompletion } from './completion.ts'
import { settingsText } from './settings.ts'

/** The groups of commands, imported when needed. */
const GROUPS: Record<string, () => Promise<(program: Command, add: AddCommand) => void>> = {
  account: async () => (await import('./accounts/account.ts')).addAccount,
  member: async () => (await import('./accounts/member.ts')).addMember,
  token: async () => (await import('./accounts/token.ts')).addToken,
  domain: async () => (await import('./domain/domain.ts')).addDomain,
  dnssec: async () => (await import('./dnssec.ts')).addDnssec,
  delegation: async () => (await import('./delegation.ts')).addDelegation,
  signalling: async () => (await import('./signalling.ts')).addSignalling,
  work: async () => (await import('./work.ts')).addWork,
  migrate: async () => (await import('./database.ts')).addDatabase,
  adopt: async () => (await import('./adopt.ts')).addAdopt,
  release: async () => (await import('./adopt.ts')).addAdopt,
  reconcile: async () => (await import('./reconcile.ts')).addReconcile,
  secondaries: async () => (await import('./secondaries.ts')).addSecondaries,
  catalog: async () => (await import('./secondaries.ts')).addSecondaries,
  primary: async () => (await import('./primary.ts')).addPrimary,
  rebuild: async () => (await import('./reconcile.ts')).addReconcile,
  backup: async () => (await import('./backup.ts')).addBackup,
  restore: async () => (await import('./backup.ts')).addBackup,
  'encrypt-again': async () => (await import('./database.ts')).addDatabase,
}

/** The end of every help text. */
export const ENVIRONMENT = `
Settings are environment variables; "zoneplane help settings" lists them. Beside a service with private
servers, you can omit DATABASE_URL, KEY_ENCRYPTION_KEYS, PDNS_API_URL, PDNS_API_KEY and NAMESERVERS.
Set all others as for the service.
The exit code is 0 if the command succeeded, 2 if its usage is wrong, 3 if something is not found, 4 if it is
refused, 75 if it can succeed later, otherwise 1.`

/** The exit codes of usage errors (as in bash), and of the errors of the service; others are 1. 75 is EX_TEMPFAIL of sysexits. */
const USAGE = 2
const EXIT_CODES: [kind: new (...args: never[]) => Error, code: number][] = [
  [NotFound, 3],
  [Conflict, 4],
  [Denied, 4],
  [Invalid, 4],
  [NameserverFailure, 75],
  [Unavailable, 75],
  [ConfigError, 1],
  [StartError, 1],
]

/** The functions that commands need and that this folder may not import. */
interface Parts {
  version: string
  /** Runs the service until a signal stops it. */
  start: (options: { fresh: boolean; install: boolean; ci: boolean }) => Promise<void>
  /** Runs `work` on a system that meets its needs. */
  withSystem: (needs: Omit<Needs, 'message'>, work: (system: System) => Promise<void>) => Promise<void>
}

/** Runs one command line and prints its outcome, or its error. Returns the exit code. */
export async function run(args: string[], parts: Parts, output: OutputConfiguration = {}): Promise<number> {
  let code = 0
  // Known before the command line is read, because that can fail.
  const isJson = args.includes('--json')
  const errorOf = (text: string) => (isJson ? `${JSON.stringify({ error: text })}\n` : `zoneplane: ${text}\n`)
  const program = new Command('zoneplane')
    .version(parts.version)
    .option('--json', 'print JSON')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      ...output,
      outputError(text, write) {
        write(errorOf(text.replace(/^error: /, '').trimEnd()))
      },
    })
    .addHelpText('beforeAll', ({ error }) => (error ? 'zoneplane: no command given' : ''))
    .addHelpText('afterAll', ENVIRONMENT)
    .showHelpAfterError(isJson ? false : '(add --help to see the usage)')
    .exitOverride()
  const add: AddCommand = (group, usage, { nameserver = false, schema = true, message = false }, work) => {
    const command = group.command(usage)
    if (message) command.option('--message <text>', 'why, for the history', parseMessage)
    return command.action((...args: unknown[]) =>
      parts.withSystem({ nameserver, schema }, async (system) => {
        const said = { ...system, message: command.opts<{ message?: string }>().message || undefined }
        const { lines, json, succeeded: isComplete = true } = await work(said, ...(args as never[]))
        const shown = program.opts()['json'] === true ? [JSON.stringify(json)] : lines
        program.configureOutput().writeOut!(`${shown.map(printable).join('\n')}\n`)
        if (!isComplete) code = 1
      }),
    )
  }
  program
    .command('start')
    .description('run the service; it starts a private Postgres and PowerDNS unless the environment names others')
    .option('--fresh', 'delete the data of the private servers first', false)
    .option('--no-install', 'do not install missing programs')
    .option('--ci', 'for tests: fast and without limits; delete the data at the end', false)
    .action(parts.start)
  addCompletion(program, (script) => {
    program.configureOutput().writeOut!(script)
  })
  program.helpCommand('help [command]', 'display the help of a command, or all settings (help settings)')
  const settings = program.command('settings', { hidden: true }).action(() => settings.help())
  settings.helpInformation = () => settingsText(process.env['PUBLIC_URL'])
  const named = args.find((arg) => !arg.startsWith('-')) ?? ''
  // The help, and messages about unknown commands, know all groups.
  const groups = named === 'start' ? [] : Object.hasOwn(GROUPS, named) ? [named] : Object.keys(GROUPS)
  // A file may have several groups.
  for (const addGroup of new Set(await Promise.all(groups.map(async (group) => GROUPS[group]!()))))
    addGroup(program, add)
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    // commander has printed the help, or the errors in the arguments.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE
    const expected = EXIT_CODES.find(([kind]) => error instanceof kind)
    if (expected === undefined) throw error
    program.configureOutput().writeErr!(errorOf(textOf(error as Error)))
    return expected[1]
  }
}
