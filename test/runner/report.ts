import { parse } from 'yaml'
import { TESTS } from './files.ts'

/** Lines of the summary of failures: it is what is read first, often of a log whose end alone is shown. */
const LINES = 50
/** How many failures it shows. */
const SHOWN = 10

/** A test, hook or process that failed. */
interface Failure {
  title: string
  /** The built file; undefined if an error does not tell. */
  file: string | undefined
  /** The difference or error. */
  lines: string[]
}

/** What AVA writes (TAP 13), read line by line. */
export class Report {
  passed = 0
  readonly skipped: string[] = []
  readonly failures: Failure[] = []
  readonly #files: Map<string, string>
  /** When a test of a file has ended last, and which. */
  readonly #last = new Map<string, { time: number; title: string }>()
  /** The failed test whose details follow, as YAML. */
  #open: { title: string; details: string[] } | undefined

  constructor(files: string[]) {
    this.#files = prefixes(files)
  }

  /** @returns what to show at once: a failure, or what a test logs */
  read(line: string): string | undefined {
    // What a failed test logs comes before its details.
    if (line.startsWith('#   ')) return line.slice(2)
    if (this.#open !== undefined && (line.startsWith('  ') || line === '') && line !== '  ...') {
      if (line !== '  ---') this.#open.details.push(line.slice(4))
      return undefined
    }
    // A process that has ended has no details.
    const failure = this.#close()
    const [, result, title = ''] = /^(ok|not ok) \d+ - (.*)$/.exec(line) ?? []
    if (result !== undefined) this.#note(title)
    if (result === 'ok' && title.endsWith('# SKIP')) this.skipped.push(title.slice(0, -'# SKIP'.length).trim())
    else if (result === 'ok') this.passed++
    else if (result === 'not ok') this.#open = { title, details: [] }
    if (failure !== undefined)
      return ['', `✘ ${failure.title}`, ...failure.lines.map((each) => `  ${each}`), ''].join('\n')
    return undefined
  }

  /** When a test of a file has ended last, in milliseconds since the epoch; 0: none has. */
  lastResult(file: string): number {
    return this.#last.get(file)?.time ?? 0
  }

  /** The files with a failure. */
  failedFiles(): string[] {
    return [...new Set(this.failures.flatMap(({ file }) => file ?? []))]
  }

  /**
   * All failures in few lines: title, file, difference or error, and the command that runs the file alone.
   * @param command of a file
   */
  summary(command: (file: string) => string): string {
    const shown = this.failures.slice(0, SHOWN)
    const room = Math.floor(LINES / shown.length) - 2
    const texts = shown.map(({ title, file, lines }) => {
      const details = lines.length > room ? [...lines.slice(0, room - 1), '…'] : lines
      return [`✘ ${title}`, ...details, file === undefined ? 'in an unknown file' : `again: ${command(file)}`].join(
        '\n  ',
      )
    })
    const left = this.failures.length - shown.length
    if (left > 0) texts.push(`… and ${left} more, above`)
    return texts.join('\n')
  }

  #close(): Failure | undefined {
    if (this.#open === undefined) return undefined
    const failure = this.#failure(this.#open)
    this.#open = undefined
    this.failures.push(failure)
    return failure
  }

  #note(title: string): void {
    const file = this.#fileOf(title)
    if (file !== undefined) this.#last.set(file, { time: Date.now(), title })
  }

  #fileOf(title: string): string | undefined {
    const prefix = [...this.#files.keys()].find((each) => title.startsWith(each))
    return prefix === undefined ? undefined : this.#files.get(prefix)
  }

  #failure({ title, details }: { title: string; details: string[] }): Failure {
    const lines = linesOf(details.join('\n'))
    // The process of a file has ended before its tests have.
    const ended = new RegExp(`^${TESTS}/\\S+\\.test\\.js(?= exited)`).exec(title)?.[0]
    if (ended === undefined) return { title, file: this.#fileOf(title), lines }
    return {
      title,
      file: ended,
      lines: [`the last test that ended: ${this.#last.get(ended)?.title ?? 'none'}`, ...lines],
    }
  }
}

/** The difference, or what else says what was wrong, and where that was. */
function linesOf(text: string): string[] {
  const { message, details, formatted, at, stack } = read(text)
  const parts =
    details === undefined ? [message ?? formatted ?? stack ?? text] : [message ?? '', ...Object.entries(details).flat()]
  const lines = [...parts, /:\d+\)?$/.test(at ?? '') ? `at ${at!}` : ''].flatMap((part) => part.split('\n'))
  return lines.map((line) => line.trimEnd()).filter((line) => line !== '')
}

interface Details {
  message?: string
  details?: Record<string, string>
  formatted?: string
  at?: string
  stack?: string
}

function read(text: string): Details {
  try {
    return (parse(text) ?? {}) as Details
  } catch {
    return { message: text }
  }
}

/** What AVA writes before the titles of a file's tests, longest first; nothing if there is one file. */
function prefixes(files: string[]): Map<string, string> {
  if (files.length === 1) return new Map([['', files[0]!]])
  const paths = files.map((file) => file.replace(/\.test\.js$/, '').split('/'))
  const [first = []] = paths
  const common = first.findIndex((part, i) => paths.some((path) => path[i] !== part))
  const all = paths.map((path, i) => [`${path.slice(common).join(' › ')} › `, files[i]!] as const)
  return new Map(all.sort(([a], [b]) => b.length - a.length))
}
