import { randomBytes } from 'node:crypto'
import { openDatabase, query } from '../../../../src/store/database.ts'

/** A database with our tables. */
export interface Database {
  url: string
  drop: () => Promise<void>
}

/** @param template of the new database; without it, one with our tables */
export async function createDatabase(template = 'template_zoneplane'): Promise<Database> {
  const server = process.env['TEST_POSTGRES_URL']!
  const name = `test_${randomBytes(6).toString('hex')}`
  const run = async (sql: string) => {
    const db = openDatabase(server, 1)
    await query(db, sql).finally(() => db.end())
  }
  await run(`create database ${name} template ${template}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) }
}
