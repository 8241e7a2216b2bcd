import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultDataFolder } from './instance-folder.ts'

// Files in the data folder beside the private servers. Only the user of the service can read them.

/** Settings, by the names of their environment variables. */
export type Settings = Record<string, string>

const RUNNING = 'running.json'

/** Returns ZONEPLANE_DATA; if it is not set, the default folder of private servers. */
export function dataFolderOf(env: NodeJS.ProcessEnv): string {
  const set = env['ZONEPLANE_DATA']?.trim()
  return set === undefined || set === '' ? defaultDataFolder(process.cwd()) : set
}

/** Returns a secret, which is generated if it is missing, or if everything begins afresh. */
export function keptSecret(folder: string, name: string, fresh: boolean, generate: () => string): string {
  const kept = fresh ? undefined : read(join(folder, name))
  if (kept !== undefined) return kept.trim()
  const secret = generate()
  writeFileSync(join(folder, name), `${secret}\n`, { mode: 0o600 })
  return secret
}

/** Writes the addresses of the servers of a running service, for the operator's command line. */
export function rememberServers(folder: string, settings: Settings): void {
  // Renamed, so that no reader finds a part of it.
  const made = join(folder, `${RUNNING}.new`)
  rmSync(made, { force: true })
  writeFileSync(made, JSON.stringify(settings), { mode: 0o600 })
  renameSync(made, join(folder, RUNNING))
}

/** Removes the file of `rememberServers`. */
export function forgetServers(folder: string): void {
  rmSync(join(folder, RUNNING), { force: true })
}

/** Reads the file of `rememberServers`; undefined if no service runs here. */
export function recallServers(folder: string): Settings | undefined {
  const text = read(join(folder, RUNNING))
  return text === undefined ? undefined : (JSON.parse(text) as Settings)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
