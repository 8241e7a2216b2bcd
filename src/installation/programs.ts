import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// The PATH of ordinary users often lacks the folders with servers.
const alsoIn = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/usr/local/bin']

/** Finds the path of a program; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...alsoIn]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** Finds the path of pdns_server, if it has the LMDB backend. */
export function findPowerDns(): string | undefined {
  return hasBackend('lmdb') ? findProgram('pdns_server') : undefined
}

/** The programs with a known backend: each is asked once. */
const found = new Set<string>()

/** Reports whether pdns_server is installed with this backend. */
export function hasBackend(name: string): boolean {
  const program = findProgram('pdns_server')
  if (program === undefined) return false
  if (found.has(`${program} ${name}`)) return true
  // Without the system's configuration, which often only root can read.
  const { stdout } = spawnSync(program, ['--config-dir=/nonexistent', '--list-modules'], { encoding: 'utf8' })
  const isThere = stdout.split(/\s+/).includes(name)
  if (isThere) found.add(`${program} ${name}`)
  return isThere
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
