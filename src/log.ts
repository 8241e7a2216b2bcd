import winston from 'winston'
import { printable } from './errors.ts'

export type Log = winston.Logger

/**
 * Creates the log of the process on standard error; standard output is for people. A line is a JSON object, or text,
 * which is also for people (docs/operators/monitor.md).
 * @param format undefined: text at a terminal, otherwise JSON
 */
export function createLog(
  level: string,
  stream: NodeJS.WritableStream = process.stderr,
  format?: 'json' | 'text',
): Log {
  const isTerminal = (stream as Partial<NodeJS.WriteStream>).isTTY === true
  const isText = format === undefined ? isTerminal : format === 'text'
  const text = winston.format.printf((line) => textOf(line, isTerminal ? paint : unpainted))
  return winston.createLogger({
    level,
    format: winston.format.combine(winston.format.timestamp(), isText ? text : winston.format.json()),
    transports: [new winston.transports.Stream({ stream })],
  })
}

/** Select Graphic Rendition (ECMA-48 §8.3.117) by its subject: a level, or the first digit of a status. */
const COLOURS: Record<string, number> = { error: 31, warn: 33, info: 32, debug: 36, 2: 32, 3: 36, 4: 33, 5: 31 }

type Paint = (colour: string, text: string) => string

const paint: Paint = (colour, text) => `\u001b[${COLOURS[colour] ?? 0}m${text}\u001b[0m`
const unpainted: Paint = (_, text) => text

/** Formats a line for people: time, level, message and members; for a request, its method and answer come first. */
function textOf({ level, message, timestamp, ...members }: winston.Logform.TransformableInfo, painted: Paint): string {
  const time = String(timestamp).slice(11, 23)
  if (message === 'request') {
    const { method, status, route, ms, ...rest } = members
    const answer = [painted(String(status)[0]!, String(status)), method, route ?? '-', `${String(ms)} ms`]
    return [time, ...answer, ...pairs(rest)].join(' ')
  }
  const { error, ...rest } = members
  const line = [time, painted(level, level), printable(String(message)), ...pairs(rest)].join(' ')
  // A stack is many lines.
  return typeof error === 'string' ? [line, ...error.split('\n').map(printable)].join('\n') : line
}

/** Formats the members that are not null as `name=value`. */
function pairs(members: Record<string, unknown>): string[] {
  return Object.entries(members).flatMap(([name, value]) => (value == null ? [] : [`${name}=${shown(value)}`]))
}

/** Shows a word unchanged, anything else as JSON. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? printable(value) : printable(JSON.stringify(value))
}
