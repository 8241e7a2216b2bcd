import { spawnSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../errors.ts'

/** A lock that this process holds until it releases it or ends. */
export interface Lock {
  release(): void
}

/** The process that holds a lock: its id in its own container or machine. */
export interface Holder {
  pid: number
}

/**
 * Takes the lock that this file stands for, or returns the process that holds it. The kernel keeps the lock and ends it
 * with the process, so it also holds between containers that share the folder.
 */
export function takeLock(file: string): Lock | Holder {
  const fd = openLocked(file)
  if (fd === undefined) return { pid: Number(readFileSync(file, 'utf8')) }
  ftruncateSync(fd)
  writeSync(fd, String(process.pid))
  return {
    release: () => {
      closeSync(fd)
    },
  }
}

/** Takes the lock; while another process holds it, waits and calls `waiting` once. */
export async function waitForLock(file: string, waiting: (holder: Holder) => void): Promise<Lock> {
  let isTold = false
  for (;;) {
    const lock = takeLock(file)
    if ('release' in lock) return lock
    if (!isTold) waiting(lock)
    isTold = true
    await sleep(200)
  }
}

/** Opens and locks the file. Returns undefined if another process has locked it. */
function openLocked(file: string): number | undefined {
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  // flock(1) locks the open file that it inherits, which stays locked as long as this process has it open.
  const { status, error } = spawnSync('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
  if (status === 0) return fd
  closeSync(fd)
  if (status === 1) return undefined
  throw new StartError(
    `${file} cannot be locked: flock(1), of util-linux, fails (${error?.message ?? `status ${status}`}).`,
  )
}
