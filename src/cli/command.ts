import { parseArgs } from 'node:util'
import { Invalid } from '../errors.ts'
import type { System } from '../system.ts'

/** What a command has to say: to people, and to programs. */
export interface Outcome {
  lines: string[]
  json: unknown
  /** Whether it did what it was asked to; true if absent. */
  done?: boolean
}

type Kind = 'boolean' | 'string'
type Options = Record<string, { type: Kind; help: string }>
type Values<O extends Options> = { [Name in keyof O]?: O[Name]['type'] extends 'boolean' ? boolean : string }

/** A command of the operator's command line, ready to be called. */
export interface Command {
  /** One line. */
  summary: string
  /** How it is called, behind its name. */
  usage: string
  /** A line for each option. */
  options: [name: string, help: string][]
  /** Whether it speaks to PowerDNS. */
  nameserver: boolean
  /** @throws UsageError before anything is done */
  prepare(args: string[]): { json: boolean; run: (system: System) => Promise<Outcome> }
}

/** A wrong call; the message says what is wrong with it. */
export class UsageError extends Error {}

/**
 * A command.
 * @param args the names of its arguments; in brackets what may be left out
 */
export function command<O extends Options>(definition: {
  summary: string
  args?: string[]
  options?: O
  nameserver?: boolean
  run: (system: System, args: string[], options: Values<O>) => Promise<Outcome>
}): Command {
  const { summary, args: names = [], options: own = {} as O, nameserver = false, run } = definition
  const options = { ...own, json: { type: 'boolean', help: 'print JSON' } } as O & Options
  return {
    summary,
    usage: [...names, ...Object.entries(options).map(([name, option]) => `[${flag(name, option.type)}]`)].join(' '),
    options: Object.entries(options).map(([name, option]) => [flag(name, option.type), option.help]),
    nameserver,
    prepare(args) {
      const { values, positionals } = parse(args, options)
      const least = names.filter((name) => !name.startsWith('[')).length
      if (positionals.length < least) throw new UsageError(`${names[positionals.length]!} is missing`)
      if (positionals.length > names.length) throw new UsageError(`too many arguments: ${positionals.at(-1)!}`)
      return { json: values['json'] === true, run: (system) => run(system, positionals, values as Values<O>) }
    },
  }
}

function flag(name: string, type: Kind): string {
  return type === 'boolean' ? `--${name}` : `--${name} VALUE`
}

function parse(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** A whole number; or null, if the word for that is given. */
export function numberOr(word: string, what: string, text: string, least = 0, most = 2 ** 31 - 1): number | null {
  if (text === word) return null
  const number = /^\d{1,10}$/.test(text) ? Number(text) : NaN
  if (!(number >= least && number <= most)) {
    const other = word === '' ? '' : `, or ${word}`
    throw Invalid.object(`${what} must be a whole number from ${least} to ${most}${other}, not "${text}".`)
  }
  return number
}

/** Rows below each other, as wide as they need be. */
export function table(head: string[], rows: (string | number)[][]): string[] {
  const all = [head, ...rows.map((row) => row.map(String))]
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]!.length)))
  return all.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  )
}

/** `2026-01-31 12:00:00`, in UTC. */
export function shortTime(time: string | null): string {
  return time === null ? 'never' : time.slice(0, 19).replace('T', ' ')
}
