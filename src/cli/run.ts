import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { ConfigError } from '../config.ts'
import { Conflict, Denied, Invalid, NameserverFailure, NotFound, StartError, Unavailable } from '../errors.ts'
import type { System } from '../system.ts'
import { addAccount } from './account.ts'
import type { AddCommand } from './command.ts'
import { addDomain } from './domain.ts'
import { addEncryption } from './encryption.ts'
import { addReconcile } from './reconcile.ts'
import { addToken } from './token.ts'

const ENVIRONMENT = `
It reads the environment of the service: DATABASE_URL, KEY_ENCRYPTION_KEYS, PDNS_API_URL,
PDNS_API_KEY and NAMESERVERS must be set.
The exit code is 0 if the command succeeded, else 1.`

/** Runs `work` on a system, which can reach PowerDNS if the work needs it. */
type WithSystem = (nameserver: boolean, work: (system: System) => Promise<void>) => Promise<void>

/** Runs one command line and prints its outcome. Returns whether it succeeded. */
export async function run(args: string[], withSystem: WithSystem, output: OutputConfiguration = {}): Promise<boolean> {
  let succeeded = true
  const program = new Command('zoneplane')
    .option('--json', 'print JSON')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      ...output,
      outputError(text, write) {
        write(text.replace(/^error:/, 'zoneplane:'))
      },
    })
    .addHelpText('beforeAll', ({ error }) => (error ? 'zoneplane: no command given' : ''))
    .addHelpText('afterAll', ENVIRONMENT)
    .showHelpAfterError('(add --help to see the usage)')
    .exitOverride()
  const add: AddCommand = (group, usage, description, work, { nameserver } = { nameserver: false }) =>
    group
      .command(usage)
      .description(description)
      .action((...args: unknown[]) =>
        withSystem(nameserver, async (system) => {
          const { lines, json, succeeded: isComplete = true } = await work(system, ...(args as never[]))
          program.configureOutput().writeOut!(
            `${program.opts()['json'] === true ? JSON.stringify(json) : lines.join('\n')}\n`,
          )
          succeeded = isComplete
        }),
      )
  for (const addCommands of [addAccount, addToken, addDomain, addReconcile, addEncryption]) addCommands(program, add)
  try {
    await program.parseAsync(args, { from: 'user' })
    return succeeded
  } catch (error) {
    // commander has printed the help, or what is wrong with the arguments.
    if (error instanceof CommanderError) return error.exitCode === 0
    if (!isExpected(error)) throw error
    program.configureOutput().writeErr!(`zoneplane: ${message(error)}\n`)
    return false
  }
}

function isExpected(error: unknown): error is Error {
  const kinds = [ConfigError, StartError, NameserverFailure, Unavailable, NotFound, Conflict, Denied, Invalid]
  return kinds.some((kind) => error instanceof kind)
}

function message(error: Error): string {
  if (!(error instanceof Invalid)) return error.message
  return [error.problems]
    .flat()
    .flatMap((one) => Object.values(one).flat())
    .join(' ')
}
