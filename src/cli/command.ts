import { type Command, InvalidArgumentError } from 'commander'
import { Invalid } from '../errors.ts'
import { messageProblem } from '../service/zone/journal.ts'
import type { System } from '../system.ts'
import { readTime, type Timestamp } from '../time.ts'

/** The output of a command: lines for people, or JSON for programs. */
export interface Outcome {
  lines: string[]
  json: unknown
  /** True, or undefined, if the command did all that was asked of it. */
  succeeded?: boolean
}

/** The requirements of a command before its work begins. */
export interface Needs {
  /** PowerDNS answers. */
  nameserver: boolean
  /** The schema is up to date, and KEY_ENCRYPTION_KEYS fits the database. */
  schema: boolean
  /** It makes entries in histories: it takes a message for them. */
  message: boolean
}

/** The needs of a command that writes to zones, and so to their histories. */
export const WRITES = { nameserver: true, message: true }

/**
 * Adds a command to a group; its texts and options follow.
 * @param usage its name and arguments, in commander's syntax
 * @param needs besides Postgres; default: only the schema
 * @param work gets the arguments, then the options
 */
export type AddCommand = (
  group: Command,
  usage: string,
  needs: Partial<Needs>,
  work: (system: System, ...args: never[]) => Promise<Outcome>,
) => Command

/** @param all whether `--all` was given @throws Invalid unless the command got either names of domains, or `--all` */
export function requireOneOf(names: string[], all: boolean): void {
  if (all === names.length > 0) throw Invalid.object('Name some domains, or give --all.')
}

/** Reports the progress of a command on standard error: the outcome may go to a file. */
export function tellProgress(done: number, all: number): void {
  process.stderr.write(`zoneplane: ${done} of ${all} zones\n`)
}

/** Returns a parser for commander of whole numbers, or of one word instead. */
export function numberOr(word: string | undefined, least = 0, most = 2 ** 31 - 1): (text: string) => number | string {
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN
    if (number >= least && number <= most) return number
    if (text === word) return word
    const other = word === undefined ? '' : `, or ${word}`
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}${other}.`)
  }
}

/** Parses the message of a write for commander. */
export function message(text: string): string {
  const problem = messageProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return text.trim()
}

/** Parses a time for commander. */
export function timestamp(text: string): Timestamp {
  const time = readTime(text)
  if (time === undefined) throw new InvalidArgumentError('It must be a time such as 2026-01-31T12:00:00Z.')
  return time
}

/** Formats rows as the lines of a table. @param none the line in place of a table without rows; default: its head */
export function table(head: string[], rows: (string | number)[][], none?: string): string[] {
  if (none !== undefined && rows.length === 0) return [none]
  const all = [head, ...rows.map((row) => row.map(String))]
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]!.length)))
  return all.map((row) => {
    const cells = row.map((cell, i) => cell.padEnd(widths[i]!))
    return cells.join('  ').trimEnd()
  })
}

/** Formats a time as `2026-01-31 12:00:00`, in UTC. */
export function shortTime(time: string | null): string {
  return time === null ? 'never' : time.slice(0, 19).replace('T', ' ')
}
