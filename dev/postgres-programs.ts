import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SetupError } from './setup-error.ts'

/** The folder with initdb and postgres of one version. */
export interface PostgresPrograms {
  folder: string
  major: number
}

/** The first version with `unique nulls not distinct`. */
const oldest = 15

/**
 * The Postgres to use: the newest one of the system. Existing data needs the major version that created it.
 */
export function findPostgres(madeBy?: number): PostgresPrograms | undefined {
  const all = systemFolders()
    .flatMap(programsIn)
    .filter(({ major }) => major >= oldest)
    .sort((a, b) => b.major - a.major)
  if (madeBy === undefined) return all[0]
  const same = all.find(({ major }) => major === madeBy)
  if (same || all.length === 0) return same
  const found = all.map(({ folder, major }) => `${major} (${folder})`).join(', ')
  throw new SetupError(
    `The database was made by PostgreSQL ${madeBy}; installed is ${found}. Install PostgreSQL ${madeBy}, ` +
      'or delete the data and start over: npm start -- --fresh',
  )
}

function systemFolders(): string[] {
  const versioned = [
    ['/usr/lib/postgresql', /^\d+$/],
    ['/usr', /^pgsql-\d+$/],
    ['/opt/homebrew/opt', /^postgresql(@\d+)?$/],
    ['/usr/local/opt', /^postgresql(@\d+)?$/],
  ] as const
  const folders = versioned.flatMap(([parent, name]) => {
    const entries = existsSync(parent) ? readdirSync(parent) : []
    return entries.filter((entry) => name.test(entry)).map((entry) => join(parent, entry, 'bin'))
  })
  const configured = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  if (configured.status === 0) folders.push(configured.stdout.trim())
  return [...folders, ...(process.env.PATH ?? '').split(delimiter)]
}

function programsIn(folder: string): PostgresPrograms[] {
  const postgres = join(folder, 'postgres')
  if (folder === '' || !existsSync(postgres) || !existsSync(join(folder, 'initdb'))) return []
  const { stdout, status } = spawnSync(postgres, ['--version'], { encoding: 'utf8' })
  const major = status === 0 ? /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] : undefined
  return major !== undefined ? [{ folder, major: Number(major) }] : []
}
