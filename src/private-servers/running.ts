import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process. Its start time distinguishes it from a later process with the same id. */
export interface Running {
  pid: number
  started: string
}

/** Returns the process with this id; undefined if it does not exist. */
export function identify(pid: number): Running | undefined {
  const started = startOf(pid)
  return started === undefined ? undefined : { pid, started }
}

/** Signals that end a process, each with the milliseconds to wait before the next one. */
export type Ending = [NodeJS.Signals, number][]

/** Reports whether the process still runs. */
export function isRunning(running: Running): boolean {
  return startOf(running.pid) === running.started
}

/** Writes a process to a file. */
export function remember(file: string, running: Running): void {
  writeFileSync(file, JSON.stringify(running), { mode: 0o600 })
}

/** Returns the process that `remember` wrote to this file, if it still runs. */
export function recall(file: string): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(file, 'utf8')) as Running
    return Number.isInteger(running.pid) && running.pid > 1 && isRunning(running) ? running : undefined
  } catch {
    return undefined
  }
}

/** Sends these signals one after the other until the process has ended. */
export async function end(running: Running, ending: Ending): Promise<void> {
  for (const [signal, wait] of ending) {
    const until = Date.now() + wait
    send(running.pid, signal)
    // A process stopped by SIGSTOP handles no signal except SIGKILL until it continues.
    send(running.pid, 'SIGCONT')
    while (isRunning(running) && Date.now() < until) await sleep(20)
    if (!isRunning(running)) return
  }
}

/** Sends a signal to a process that may have ended. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended, or belongs to another user.
  }
}

/** Returns the start time of a process, in the system's format; undefined if it does not exist or is a zombie. */
function startOf(pid: number): string | undefined {
  try {
    // proc(5): the name, in parentheses, may contain anything; after it come the state and, 19 fields later, the start.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
