import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { commandFor, type RunAs } from './account.ts'
import { end, identify, isRunning, recall, remember, send } from './running.ts'
import { SetupError } from './setup-error.ts'

/** Signals that end a process, each with the milliseconds it is given. */
export type Ending = [NodeJS.Signals, number][]

/** A server that we started. */
export interface Daemon {
  readonly pid: number
  /** Resolves when it is gone, whoever ended it. */
  readonly exited: Promise<void>
  isRunning(): boolean
  stop(): Promise<void>
}

export interface DaemonOptions extends RunAs {
  /** The instance's folder: takes the log and the note of which process serves it. */
  folder: string
  ending: Ending
}

const ours = new Map<number, NodeJS.Signals>()

// What we leave to pdeathsig elsewhere: systems without it, at least when we end in an orderly manner.
process.on('exit', () => {
  for (const [pid, signal] of ours) send(pid, signal)
})

/** Starts a server in a process group of its own: a Ctrl-C in the terminal is for us, and we stop things in order. */
export function startDaemon(program: string, args: string[], options: DaemonOptions): Daemon {
  const { folder, ending, deathSignal } = options
  const command = commandFor(program, args, options)
  if (existsSync(logOf(folder))) renameSync(logOf(folder), `${logOf(folder)}.old`)
  const log = openSync(logOf(folder), 'a', 0o600)
  const child = spawn(command.file, command.args, {
    ...command.as,
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: environment(),
  })
  closeSync(log)
  const pid = child.pid
  const running = pid === undefined ? undefined : identify(pid)
  if (pid !== undefined) ours.set(pid, deathSignal)
  if (running) remember(join(folder, 'process'), running)
  let gone = false
  const exited = new Promise<void>((resolve) => {
    const leave = () => {
      gone = true
      if (pid !== undefined) ours.delete(pid)
      resolve()
    }
    child.once('exit', leave)
    child.once('error', leave)
  })
  return {
    pid: pid ?? 0,
    exited,
    isRunning: () => !gone,
    stop: async () => {
      if (!gone && running) await end(running, ending)
      await exited
    },
  }
}

/** Ends the server that an earlier process of ours started in this folder and left behind. */
export async function endOrphan(folder: string, ending: Ending): Promise<void> {
  const orphan = recall(join(folder, 'process'))
  if (!orphan) return
  await end(orphan, ending)
  if (isRunning(orphan)) throw new SetupError(`Process ${orphan.pid} still works in ${folder} and cannot be ended.`)
}

/** What a server said since it was started last, or the last lines of that. */
export function wordsOf(folder: string, lines = Infinity): string {
  return readFileSync(logOf(folder), 'utf8').trim().split('\n').slice(-lines).join('\n')
}

/** What programs of ours get of our environment: nothing that changes what they do. */
export function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}

function logOf(folder: string): string {
  return join(folder, 'log')
}
