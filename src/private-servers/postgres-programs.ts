import { postgresPrograms, type PostgresPrograms } from '../store/postgres-programs.ts'
import { StartError } from '../errors.ts'

/** The first version with `unique nulls not distinct`. */
const oldest = 15

/**
 * The Postgres to use: the newest one of the system. Existing data needs the major version that created it.
 */
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
