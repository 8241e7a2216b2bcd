import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const logs: { name: string; read: () => string }[] = []

/** Notes a log of a server, which is kept in a file if a test of this file fails. */
export function noteLog(name: string, read: () => string): void {
  logs.push({ name, read })
}

/** Writes all logs into a folder. */
export function keepLogs(folder: string): void {
  if (logs.length === 0) return
  mkdirSync(folder, { recursive: true })
  for (const [i, { name, read }] of logs.entries()) writeFileSync(join(folder, `${i + 1}-${name}.log`), read())
}
