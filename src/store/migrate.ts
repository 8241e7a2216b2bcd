import knex, { type Knex } from 'knex'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { QUEUE_TIMEOUT } from '../limits.ts'
import { query, type Db } from './database.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)

/** Migrations by name without extension, because knex stores the names, and sources and build must agree on them. */
const source: Knex.MigrationSource<string> = {
  getMigrations: () => migrations(),
  getMigrationName: (name) => name,
  async getMigration(name) {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    return (await import(new URL(`${name}.${extension}`, FOLDER).href)) as Knex.Migration
  },
}

async function migrations(): Promise<string[]> {
  const files = await readdir(fileURLToPath(FOLDER))
  return files.flatMap((file) => /^(\d+_\w+)\.[jt]s$/.exec(file)?.[1] ?? []).sort()
}

/** The key of the advisory lock: any number that nothing else uses. */
const LOCK = 7_301_992

/**
 * Brings a database's schema up to date, all or nothing. Several processes may call it at once.
 * @throws Error if another version of the program created the schema
 */
export async function migrate(url: string): Promise<void> {
  await exclusively(url, async (trx) => {
    await refuseUnknown(trx)
    await trx.migrate.latest({ migrationSource: source })
  })
}

/** Rejects unknown migrations. knex would, too, but could not tell the operator what to do. */
async function refuseUnknown(trx: Knex): Promise<void> {
  if (!(await trx.schema.hasTable('knex_migrations'))) return
  const known = await migrations()
  const unknown = await trx<{ name: string }>('knex_migrations').whereNotIn('name', known).orderBy('name').first()
  if (unknown === undefined) return
  if (unknown.name > known.at(-1)!) {
    throw new Error(
      `a newer version of Zoneplane made its schema (migration ${unknown.name} is unknown), and nothing was changed. ` +
        'Start that version, or restore a backup that this one made',
    )
  }
  throw new Error(
    `another version of Zoneplane made its schema (migration ${unknown.name} is unknown), and nothing was changed. ` +
      'Create a new database. To recreate private servers: npm start -- --fresh',
  )
}

/** Undoes all migrations, the last one first, all or nothing. */
export async function unmigrate(url: string): Promise<void> {
  await exclusively(url, async (trx) => {
    await trx.migrate.rollback({ migrationSource: source }, true)
  })
}

/** Whether the database has exactly the migrations of this program. */
export async function isMigrated(db: Db): Promise<boolean> {
  const done = await query<{ name: string }>(db, 'select name from knex_migrations order by name')
  return JSON.stringify(done.map(({ name }) => name)) === JSON.stringify(await migrations())
}

/** knex' own lock is a row, which survives a killed process. This lock ends with the connection. */
async function exclusively(url: string, work: (trx: Knex) => Promise<void>): Promise<void> {
  const db = knex({
    client: 'pg',
    connection: { connectionString: url, connectionTimeoutMillis: QUEUE_TIMEOUT },
    pool: { min: 0, max: 1 },
    // Errors are thrown; knex would print them as well.
    log: { warn: () => undefined, error: () => undefined },
  })
  try {
    await db.transaction(async (trx) => {
      // A process that stands still, or is cut off from Postgres, must not keep all others from starting.
      await trx.raw(`set local idle_in_transaction_session_timeout = '10s'`)
      await trx.raw('select pg_advisory_xact_lock(?)', [LOCK])
      await work(trx)
    })
  } finally {
    await db.destroy()
  }
}
