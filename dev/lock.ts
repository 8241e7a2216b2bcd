import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify, parseRunning, remember, type Running } from './running.ts'

/** A lock that is ours until released; it is worth nothing any more when our process is gone. */
export interface Lock {
  release(): void
}

/** Takes the lock that this file stands for, or tells who holds it. */
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

/** Takes the lock, waiting for whoever holds it. */
export async function waitForLock(file: string, waiting: (holder: Running) => void): Promise<Lock> {
  let told = false
  for (;;) {
    const lock = takeLock(file)
    if ('release' in lock) return lock
    if (!told) waiting(lock)
    told = true
    await sleep(200)
  }
}

/** Who holds the lock; if nobody does any more, the lock is cleared away. */
function holderOf(file: string): Running | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const holder = parseRunning(text)
  if (holder) return holder
  // Moved away, then looked at again: meanwhile another process may have cleared it and taken the lock.
  const away = `${file}.left.${process.pid}`
  try {
    renameSync(file, away)
    if (readFileSync(away, 'utf8') !== text) linkSync(away, file)
  } catch {
    // Somebody else cleared it, or took it meanwhile.
  }
  rmSync(away, { force: true })
  return undefined
}
