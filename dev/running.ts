import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process, told from a later one that has the same number by when it started. */
export interface Running {
  pid: number
  started: string
}

/** The process of this number; undefined if there is none (any more). */
export function identify(pid: number): Running | undefined {
  const started = startOf(pid)
  return started === undefined ? undefined : { pid, started }
}

/** Whether it still runs. */
export function isRunning(running: Running): boolean {
  return startOf(running.pid) === running.started
}

/** Writes down which process works for a folder. */
export function remember(file: string, running: Running): void {
  writeFileSync(file, JSON.stringify(running), { mode: 0o600 })
}

/** The process written down in a file, if it still runs. */
export function recall(file: string): Running | undefined {
  try {
    return parseRunning(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** The process that a text written by `remember` tells of, if it still runs. */
export function parseRunning(text: string): Running | undefined {
  try {
    const running = JSON.parse(text) as Running
    return Number.isInteger(running.pid) && running.pid > 1 && isRunning(running) ? running : undefined
  } catch {
    return undefined
  }
}

/** Sends these signals in turn, each with its patience in milliseconds, until the process is gone. */
export async function end(running: Running, signals: [NodeJS.Signals, number][]): Promise<void> {
  for (const [signal, patience] of signals) {
    const until = Date.now() + patience
    send(running.pid, signal)
    // A stopped process takes no signal but SIGKILL before it continues.
    send(running.pid, 'SIGCONT')
    while (isRunning(running) && Date.now() < until) await sleep(20)
    if (!isRunning(running)) return
  }
}

/** Sends a signal to a process that may be gone. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone, or not ours.
  }
}

/** When a process started, in the system's own words; undefined if it is not there or only waits to be reaped. */
function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    const started = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
    return started === '' ? undefined : started
  }
  try {
    // The name, in parentheses, may contain anything; behind it come the state and, 19 fields on, the start.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
