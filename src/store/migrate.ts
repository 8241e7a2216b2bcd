import type { Knex } from 'knex'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { QUEUE_TIMEOUT } from '../limits.ts'
import { type Db, one, openDatabase, query } from './database.ts'

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
  // Usually nothing is to be done, and loading knex takes longer than a look.
  if (await isUpToDate(url)) return
  await exclusively(url, async (trx) => {
    if (await trx.schema.hasTable('knex_migrations')) {
      const rows = await trx<{ name: string }>('knex_migrations').select('name')
      await refuseUnknown(rows.map(({ name }) => name))
    }
    await trx.migrate.latest({ migrationSource: source })
  })
}

/**
 * Rejects unknown migrations. knex would also do so, but without the remedy for the operator.
 * @param names of the migrations of a database
 */
export async function refuseUnknown(names: string[]): Promise<void> {
  const known = await migrations()
  const unknown = names.filter((name) => !known.includes(name)).sort()[0]
  if (unknown === undefined) return
  if (unknown > known.at(-1)!) {
    throw new Error(
      `a newer version of Zoneplane made its schema (migration ${unknown} is unknown), and nothing was changed. ` +
        'Start that version, or restore a backup that this one made',
    )
  }
  throw new Error(
    `another version of Zoneplane made its schema (migration ${unknown} is unknown), and nothing was changed. ` +
      'Create a new database. To recreate private servers: npm start -- --fresh',
  )
}

/** Keeps others from migrating until the transaction ends. @throws Busy */
export async function lockSchema(trx: Db): Promise<void> {
  await query(trx, 'select pg_advisory_xact_lock(:key)', { key: LOCK })
}

/** Undoes all migrations, the last one first, all or nothing. */
export async function unmigrate(url: string): Promise<void> {
  await exclusively(url, async (trx) => {
    await trx.migrate.rollback({ migrationSource: source }, true)
  })
}

async function isUpToDate(url: string): Promise<boolean> {
  const db = openDatabase(url, 1)
  try {
    // An empty database has no table of migrations. The migrations will also find any other fault.
    return await isMigrated(db).catch(() => false)
  } finally {
    await db.end()
  }
}

/** Reports whether the database has exactly the migrations of this program. */
export async function isMigrated(db: Db): Promise<boolean> {
  const done = await query<{ name: string }>(db, 'select name from knex_migrations order by name')
  return JSON.stringify(done.map(({ name }) => name)) === JSON.stringify(await migrations())
}

/** Returns the name of the latest migration of the database. */
export async function latestMigration(db: Db): Promise<string> {
  return (await one<{ name: string }>(db, 'select max(name) as name from knex_migrations')).name
}

/** Runs `work` under a lock that ends with the connection. knex' own lock is a row, which survives a killed process. */
async function exclusively(url: string, work: (trx: Knex) => Promise<void>): Promise<void> {
  const { default: knex } = await import('knex')
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
