import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

// The process of each test file keeps a folder (test/support/worker.ts).

/** What is in that folder: the id of the process while it runs; at its end, what it has cost, and logs of its servers. */
export const PROCESS = 'process'
export const COST = 'cost'
export const LOGS = 'logs'

/** What the process of a test file has cost, in seconds. */
export interface Cost {
  file: string
  /** From the start of its process to its end. */
  wall: number
  /** Processor time of the process, and of the processes that it started. */
  own: number
  children: number
}

/** The name of a test file's folder. */
export function folderOf(file: string): string {
  return file
    .replace(/^build\/test\//, '')
    .replace(/\.test\.js$/, '')
    .replaceAll('/', '-')
}

/** Seconds between the signal that lets a process write its logs, and the one that ends it. */
const GRACE = 10

/**
 * Ends processes of test files in which no test has ended for too long. The others go on.
 * @param folder where the folders of the files are
 * @param patience seconds
 * @param lastResult milliseconds since the epoch of the last result of a file, 0 without one
 * @returns how to end this
 */
export function endHanging(
  folder: string,
  files: string[],
  patience: number,
  lastResult: (file: string) => number,
): () => void {
  const timer = setInterval(() => {
    for (const file of files) {
      const process = join(folder, folderOf(file), PROCESS)
      if (!existsSync(process)) continue
      const silence = (Date.now() - Math.max(statSync(process).mtimeMs, lastResult(file))) / 1000
      if (silence > patience)
        send(Number(readFileSync(process, 'utf8')), silence > patience + GRACE ? 'SIGKILL' : 'SIGTERM')
    }
  }, 1000)
  return () => {
    clearInterval(timer)
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

/** What each finished file has cost, the slowest first. */
export function costs(folder: string): Cost[] {
  const files = readdirSync(folder).map((name) => join(folder, name, COST))
  const all = files.filter((file) => existsSync(file)).map((file) => JSON.parse(readFileSync(file, 'utf8')) as Cost)
  return all.sort((a, b) => b.wall - a.wall)
}

/** The processor time of this process, and of those that it started and that have ended, in seconds; undefined without /proc. */
export function processorTime(): { own: number; children: number } | undefined {
  if (!existsSync('/proc/self/stat')) return undefined
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ').slice(11, 15)
  const [user, system, childrenUser, childrenSystem] = fields.map((ticks) => Number(ticks) / 100) as [
    number,
    number,
    number,
    number,
  ]
  return { own: user + system, children: childrenUser + childrenSystem }
}
