import { ConfigError } from '../config.ts'
import { Conflict, Denied, Invalid, NameserverFailure, NotFound, StartError, Unavailable } from '../errors.ts'
import type { System } from '../system.ts'
import { account } from './account.ts'
import { UsageError, type Command } from './command.ts'
import { domain } from './domain.ts'
import { reconcile } from './reconcile.ts'
import { token } from './token.ts'

const COMMANDS: Record<string, Command | Record<string, Command>> = { account, token, domain, reconcile }

const ENVIRONMENT = `It reads the environment of the service: DATABASE_URL, PDNS_API_URL, PDNS_API_KEY and NAMESERVERS must be set.
Exit code: 0 if it did what it was asked to, 1 if not.`

/** Runs `work` on a system, which can speak to PowerDNS if it needs to. */
type WithSystem = <T>(nameserver: boolean, work: (system: System) => Promise<T>) => Promise<T>

/**
 * Does what the words of a command line ask for, and tells about it.
 * @returns whether it was done
 */
export async function run(
  words: string[],
  withSystem: WithSystem,
  tell: Pick<Console, 'log' | 'error'>,
): Promise<boolean> {
  const { name, found, args } = find(words)
  const wantsHelp = words.some((word) => word === '--help' || word === '-h')
  try {
    if (wantsHelp && (found !== undefined || args.every((word) => word.startsWith('-')))) {
      tell.log(help(name, found))
      return true
    }
    if (found === undefined) throw new UsageError(unknown(name, args[0]))
    const { json, run: work } = found.prepare(args)
    const outcome = await withSystem(found.nameserver, work)
    tell.log(json ? JSON.stringify(outcome.json) : outcome.lines.join('\n'))
    return outcome.done ?? true
  } catch (error) {
    if (error instanceof UsageError) tell.error(`zoneplane: ${error.message}\n\n${help(name, found)}`)
    else tell.error(isExpected(error) ? `zoneplane: ${message(error)}` : error)
    return false
  }
}

/** The command that the first words name; undefined if they name none, or only a group. */
function find(words: string[]): { name: string; found?: Command; args: string[] } {
  const [first = '', second = ''] = words
  const entry = Object.hasOwn(COMMANDS, first) ? COMMANDS[first]! : undefined
  if (entry === undefined) return { name: '', args: words }
  if (isCommand(entry)) return { name: first, found: entry, args: words.slice(1) }
  const found = Object.hasOwn(entry, second) ? entry[second]! : undefined
  if (found === undefined) return { name: first, args: words.slice(1) }
  return { name: `${first} ${second}`, found, args: words.slice(2) }
}

function isCommand(entry: Command | Record<string, Command>): entry is Command {
  return typeof entry.prepare === 'function'
}

function unknown(group: string, word: string | undefined): string {
  return word === undefined ? 'no command given' : `no such command: ${group === '' ? '' : `${group} `}${word}`
}

/** About one command, those of a group, or all. */
function help(name: string, found: Command | undefined): string {
  if (found !== undefined) {
    const width = Math.max(...found.options.map(([flag]) => flag.length))
    const options = found.options.map(([flag, text]) => `  ${flag.padEnd(width)}   ${text}`)
    return [`Usage: zoneplane ${name} ${found.usage}`, '', `  ${found.summary}`, '', ...options, '', ENVIRONMENT].join(
      '\n',
    )
  }
  const commands = Object.entries(COMMANDS)
    .filter(([group]) => name === '' || group === name)
    .flatMap(([group, entry]) =>
      isCommand(entry)
        ? [[group, entry] as const]
        : Object.entries(entry).map(([word, each]) => [`${group} ${word}`, each] as const),
    )
  const width = Math.max(...commands.map(([words]) => words.length))
  const lines = commands.map(([words, { summary }]) => `  ${words.padEnd(width)}   ${summary}`)
  const usage = `Usage: zoneplane ${name === '' ? '' : `${name} `}<command> [options]`
  return [usage, '', ...lines, '', 'Each explains itself: zoneplane <command> --help', ENVIRONMENT].join('\n')
}

function isExpected(error: unknown): error is Error {
  const kinds = [ConfigError, StartError, NameserverFailure, Unavailable, NotFound, Conflict, Denied, Invalid]
  return kinds.some((kind) => error instanceof kind)
}

function message(error: Error): string {
  return error instanceof Invalid ? texts(error.problems).join(' ') : error.message
}

function texts(problems: Invalid['problems']): string[] {
  return [problems].flat().flatMap((one) => Object.values(one).flat())
}
