import type { ExecutionContext } from 'ava'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { commandFor } from '../../../dev/account.ts'

export interface Run {
  env?: Record<string, string>
  /** Where it runs. */
  folder?: string
  /** How long it may run. */
  seconds?: number
}

export interface Outcome {
  /** Null if it was killed. */
  code: number | null
  /** What it said, on both channels. */
  output: string
}

/** A program that needs longer is killed. */
const SECONDS = 100

export interface Started {
  /** What it has said so far, on both channels. */
  words: () => string
  /** Resolves with its exit code, null if it was killed. */
  ended: Promise<number | null>
  isRunning: () => boolean
  kill: () => void
}

/** Starts somebody else's program, with an environment that holds little but what is given; it ends when we do. */
export function start(program: string, args: string[], { env = {}, folder }: Run = {}): Started {
  const { TEST_FOLDER: home = '', TMPDIR = '', PATH = '' } = process.env
  const command = commandFor(program, args, { account: undefined, capabilities: [], deathSignal: 'SIGKILL' })
  const child = spawn(command.file, command.args, {
    cwd: folder ?? home,
    env: { PATH: `${PATH}:/usr/sbin:/sbin`, HOME: home, TMPDIR, LC_ALL: 'C', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let words = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (words += chunk.toString()))
  return {
    words: () => words,
    ended: once(child, 'close').then(([code]) => code as number | null),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}

/** Runs a program to its end. */
export async function run(program: string, args: string[], options: Run = {}): Promise<Outcome> {
  const { words, ended, kill } = start(program, args, options)
  const timer = setTimeout(kill, 1000 * (options.seconds ?? SECONDS))
  const code = await ended
  clearTimeout(timer)
  return { code, output: words() }
}

/** Runs a command of our documents as a user would, in a shell. */
export function shell(command: string, options: Run = {}): Promise<Outcome> {
  return run('bash', ['-euo', 'pipefail', '-c', command], options)
}

/** What a program said, if it did its work; else the test fails with it. */
export function succeeded(t: ExecutionContext, { code, output }: Outcome): string {
  t.is(code, 0, output)
  return output
}
