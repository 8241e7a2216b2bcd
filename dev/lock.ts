import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify, parseRunning, remember, type Running } from './running.ts'

/** A lock that this process holds until it releases it or ends. */
export interface Lock {
  release(): void
}

/** Takes the lock that this file stands for, or returns the process that holds it. */
export function takeLock(file: string): Lock | Running {
  const mine = `${file}.${process.pid}`
  remember(mine, identify(process.pid)!)
  try {
    for (;;) {
      try {
        linkSync(mine, file)
        return {
          release: () => {
            rmSync(file, { force: true })
          },
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const holder = holderOf(file)
      if (holder) return holder
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

/** Takes the lock; while another process holds it, waits and calls `waiting` once. */
export async function waitForLock(file: string, waiting: (holder: Running) => void): Promise<Lock> {
  let isTold = false
  for (;;) {
    const lock = takeLock(file)
    if ('release' in lock) return lock
    if (!isTold) waiting(lock)
    isTold = true
    await sleep(200)
  }
}

/** The process that holds the lock. If it has ended, removes the lock. */
function holderOf(file: string): Running | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const holder = parseRunning(text)
  if (holder) return holder
  // Renamed first, then read again: another process may have removed the old lock and taken it in the meantime.
  const away = `${file}.left.${process.pid}`
  try {
    renameSync(file, away)
    if (readFileSync(away, 'utf8') !== text) linkSync(away, file)
  } catch {
    // Another process removed it, or took it in the meantime.
  }
  rmSync(away, { force: true })
  return undefined
}
