import knex, { type Knex } from 'knex'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { query, type Db } from './database.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)

/** Migrations by name without extension: knex keeps the names, and they may not differ between sources and build. */
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

/** Any constant will do, as long as nothing else takes the same advisory lock. */
const LOCK = 7_301_992

/**
 * Brings a database's schema up to date, all or nothing; several processes may do so at once.
 * @throws Error if another version of the program made the schema
 */
export async function migrate(url: string): Promise<void> {
  await exclusively(url, async (trx) => {
    await refuseUnknown(trx)
    await trx.migrate.latest({ migrationSource: source })
  })
}

/** knex would refuse them, too, but could not say what to do. */
async function refuseUnknown(trx: Knex): Promise<void> {
  if (!(await trx.schema.hasTable('knex_migrations'))) return
  const unknown = await trx<{ name: string }>('knex_migrations')
    .whereNotIn('name', await migrations())
    .first()
  if (unknown === undefined) return
  throw new Error(
    `another version of Zoneplane made its schema (migration ${unknown.name} is unknown), and nothing was changed. ` +
      'Create a new database; private servers are made anew by: npm start -- --fresh',
  )
}

/** Undoes all migrations, the last one first, all or nothing. */
export async function unmigrate(url: string): Promise<void> {
  await exclusively(url, async (trx) => {
    await trx.migrate.rollback({ migrationSource: source }, true)
  })
}

/** Whether the schema is the one that this program was made for. */
export async function isMigrated(db: Db): Promise<boolean> {
  const done = await query<{ name: string }>(db, 'select name from knex_migrations order by name')
  return JSON.stringify(done.map(({ name }) => name)) === JSON.stringify(await migrations())
}

/** knex' own lock is a row that a killed process leaves behind; this one goes with the connection. */
async function exclusively(url: string, work: (trx: Knex) => Promise<void>): Promise<void> {
  const db = knex({
    client: 'pg',
    connection: url,
    pool: { min: 0, max: 1 },
    acquireConnectionTimeout: 60_000,
    // What fails is thrown, too; knex would print it with its stack.
    log: { warn: ignore, error: ignore },
  })
  try {
    await db.transaction(async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(?)', [LOCK])
      await work(trx)
    })
  } finally {
    await db.destroy()
  }
}

function ignore(): void {
  // Nobody need know.
}
