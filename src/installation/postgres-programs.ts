import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { StartError } from '../errors.ts'

/** A folder with programs of one version of Postgres. */
export interface PostgresPrograms {
  folder: string
  major: number
}

/** Finds the folders that have all these programs, the newest version first; several may be installed. */
export function postgresPrograms(names: [string, ...string[]]): PostgresPrograms[] {
  return foldersWith(names)
    .map((folder) => ({ folder, major: majorOf(join(folder, names[0])) }))
    .filter(({ major }) => major > 0)
    .sort((a, b) => b.major - a.major)
}

function foldersWith(names: string[]): string[] {
  const hasAll = (folder: string) => folder !== '' && names.every((name) => existsSync(join(folder, name)))
  const versioned = [
    ['/usr/lib/postgresql', /^\d+$/],
    ['/usr', /^pgsql-\d+$/],
  ] as const
  const folders = versioned.flatMap(([parent, name]) => {
    const entries = existsSync(parent) ? readdirSync(parent) : []
    return entries.filter((entry) => name.test(entry)).map((entry) => join(parent, entry, 'bin'))
  })
  const found = [...folders, ...(process.env.PATH ?? '').split(delimiter)].filter(hasAll)
  if (found.length > 0) return found
  // Only where nothing else names a folder: asking costs more than looking.
  const { status, stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  return status === 0 ? [stdout.trim()].filter(hasAll) : []
}

/** The major versions of programs: each is asked once. */
const known = new Map<string, number>()

/** Returns the major version of a program of Postgres; 0: it does not tell. */
function majorOf(program: string): number {
  const present = known.get(program)
  if (present !== undefined) return present
  const { stdout, status } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  const major = status === 0 ? Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? 0) : 0
  known.set(program, major)
  return major
}

/** The first version with `unique nulls not distinct`. */
const oldest = 15

/** Finds the Postgres to use: the newest one of the system. Existing data needs the major version that created it. */
export function findPostgres(madeBy?: number): PostgresPrograms | undefined {
  const all = postgresPrograms(['postgres', 'initdb']).filter(({ major }) => major >= oldest)
  if (madeBy === undefined) return all[0]
  const same = all.find(({ major }) => major === madeBy)
  if (same || all.length === 0) return same
  const found = all.map(({ folder, major }) => `${major} (${folder})`).join(', ')
  throw new StartError(
    `The database was made by PostgreSQL ${madeBy}; installed is ${found}. Install PostgreSQL ${madeBy}, ` +
      'or delete the data and start over: npm start -- --fresh',
  )
}
