import type { Knex } from 'knex'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { query } from './database.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)

interface Migration {
  up(db: Knex): Promise<void>
  down(db: Knex): Promise<void>
}

/** Migrations by name without extension: knex keeps the names, and they may not differ between sources and build. */
const source: Knex.MigrationSource<string> = {
  async getMigrations() {
    const files = await readdir(fileURLToPath(FOLDER))
    return files.flatMap((file) => /^(\d+_\w+)\.[jt]s$/.exec(file)?.[1] ?? []).sort()
  },
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    return (await import(new URL(`${name}.${extension}`, FOLDER).href)) as Migration
  },
}

/** Any constant will do, as long as nothing else takes the same advisory lock. */
const LOCK = 7_301_992

/** Brings the schema up to date; several processes may do so at once. */
export async function migrate(db: Knex): Promise<void> {
  await exclusively(db, async (connection) => {
    await connection.migrate.latest({ migrationSource: source })
  })
}

/** Undoes all migrations, the last one first: nothing is left. */
export async function unmigrate(db: Knex): Promise<void> {
  await exclusively(db, async (connection) => {
    await connection.migrate.rollback({ migrationSource: source }, true)
  })
}

/** Whether the schema is the one that this program was made for. */
export async function isMigrated(db: Knex): Promise<boolean> {
  const [, pending] = (await db.migrate.list({ migrationSource: source })) as [unknown[], unknown[]]
  return pending.length === 0
}

/** knex' own lock is a row that a killed process leaves behind; this one goes with the connection. */
async function exclusively(db: Knex, work: (db: Knex) => Promise<void>): Promise<void> {
  await db.transaction(async (trx) => {
    await query(trx, 'set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0')
    await query(trx, `select pg_advisory_xact_lock(${LOCK})`)
    await work(trx)
  })
}
