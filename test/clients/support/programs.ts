import type { ExecutionContext } from 'ava'
import { type Program, startProgram } from '../../support/servers/programs.ts'

export interface Run {
  env?: Record<string, string>
  /** The working directory. */
  folder?: string
  /** The time limit; `SECONDS` by default. */
  seconds?: number
}

export interface Outcome {
  /** Null if it was killed. */
  code: number | null
  /** Its stdout and stderr. */
  output: string
}

/** A program that runs longer is killed. */
const SECONDS = 100

/** Starts a program of another project with a minimal environment and `env`; it ends when this process does. */
export function start(program: string, args: string[], { env = {}, folder }: Run = {}): Program {
  const { TEST_FOLDER: home = '', TMPDIR = '', PATH = '' } = process.env
  const common = { PATH: `${PATH}:/usr/sbin:/sbin`, HOME: home, TMPDIR, LC_ALL: 'C' }
  return startProgram(program, args, { ...common, ...env }, folder ?? home)
}

/** Runs a program and waits for its exit. */
export async function run(program: string, args: string[], options: Run = {}): Promise<Outcome> {
  const { child, output, ended } = start(program, args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), 1000 * (options.seconds ?? SECONDS))
  const code = await ended
  clearTimeout(timer)
  return { code, output: output() }
}

/** Runs a command of our documents as a user would, in a shell. */
export function shell(command: string, options: Run = {}): Promise<Outcome> {
  return run('bash', ['-euo', 'pipefail', '-c', command], options)
}

/** The output of a program; the test fails with it unless the exit code is 0. */
export function succeeded(t: ExecutionContext, { code, output }: Outcome): string {
  t.is(code, 0, output)
  return output
}
