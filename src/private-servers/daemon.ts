import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../errors.ts'
import { commandFor, type RunAs } from './account.ts'
import { end, type Ending, identify, isRunning, recall, remember, send } from './running.ts'

/** A running server. */
export interface Daemon {
  pid: number
  /** Resolves when the process has exited, for any reason. */
  exited: Promise<unknown>
  isRunning(): boolean
  stop(): Promise<void>
}

export interface DaemonOptions extends RunAs {
  /** The instance's folder, for the log and the note of the server's process. */
  folder: string
  ending: Ending
}

/** The running servers by process id, with the signal that ends each. */
const started = new Map<number, NodeJS.Signals>()

// On systems without pdeathsig the servers end with this process at least when it exits in an orderly way.
process.on('exit', () => {
  for (const [pid, signal] of started) send(pid, signal)
})

/**
 * Starts a server in a process group of its own, so that Ctrl-C in the terminal reaches only this process, which then
 * stops the servers in order.
 */
export function startDaemon(program: string, args: string[], options: DaemonOptions): Daemon {
  const { folder, ending, deathSignal } = options
  const command = commandFor(program, args, options)
  const logFile = join(folder, 'log')
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.old`)
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(command.file, command.args, {
    ...command.as,
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: environment(),
  })
  closeSync(log)
  const exited = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  const { pid } = child
  if (pid === undefined) throw new StartError(`${program} cannot be run.`)
  started.set(pid, deathSignal)
  void exited.then(() => started.delete(pid))
  const running = identify(pid)
  if (running) remember(join(folder, 'process'), running)
  return {
    pid,
    exited,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      if (running) await end(running, ending)
      await exited
    },
  }
}

/** Ends the server that an earlier start in this folder left running. */
export async function endOrphan(folder: string, ending: Ending): Promise<void> {
  const orphan = recall(join(folder, 'process'))
  if (!orphan) return
  await end(orphan, ending)
  if (isRunning(orphan)) throw new StartError(`Process ${orphan.pid} still uses ${folder} and cannot be ended.`)
}

/** Returns the last lines of a server's log since its last start. */
export function readLog(folder: string, lines = Infinity): string {
  return readFileSync(join(folder, 'log'), 'utf8').trim().split('\n').slice(-lines).join('\n')
}

/** Returns the exit code of a child process and all its output, once it has ended. Rejects if it cannot start. */
export async function outcome(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject))
  return { code, output: output.trim() }
}

/** Returns the environment of the servers: no variable of this process that would change their behaviour. */
export function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
