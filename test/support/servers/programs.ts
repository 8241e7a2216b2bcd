import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, join } from 'node:path'
import type { Readable } from 'node:stream'
import { findProgram } from '../../../src/installation/programs.ts'
import { projectFolder } from '../../../src/installation/project.ts'
import { commandFor } from '../../../src/private-servers/account.ts'
import { noteLog } from './logs.ts'

export interface Program {
  child: ChildProcessByStdio<null, Readable, Readable>
  /** What it has written so far, to stdout and stderr. */
  output: () => string
  /** Resolves with its exit code, null if it was killed. */
  ended: Promise<number | null>
}

/** The path of a program of another project. @throws if it is not installed */
export function installed(name: string): string {
  const found = findProgram(name)
  if (found === undefined) throw new Error(`${name} is not installed`)
  return found
}

/** Starts a program with this environment and no other; it ends when this process does. */
export function startProgram(file: string, args: string[], env: NodeJS.ProcessEnv, cwd?: string): Program {
  const command = commandFor(file, args, { account: undefined, deathSignal: 'SIGKILL' })
  const child = spawn(command.file, command.args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  noteLog(basename(file), () => output)
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return { child, output: () => output, ended: once(child, 'close').then(([code]) => code as number | null) }
}

/** Starts the program of the project with a command, such as `start`. */
export function startOurs(args: string[], env: NodeJS.ProcessEnv): Program {
  const file = join(projectFolder(), 'build', 'src', 'cli.js')
  return startProgram(process.execPath, ['--enable-source-maps', file, ...args], env)
}

/** Runs it to its end; resolves to its exit code, and all that it has written. */
export async function runOurs(args: string[], env: NodeJS.ProcessEnv): Promise<[code: number | null, output: string]> {
  const { ended, output } = startOurs(args, env)
  return [await ended, output()]
}
