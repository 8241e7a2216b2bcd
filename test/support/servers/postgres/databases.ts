import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { prepareSession } from '../../../../src/store/connections/session.ts'
import { openDatabase, query } from '../../../../src/store/database.ts'

/** Milliseconds that are never over. */
const EVER = 2 ** 31 - 1

/**
 * A pool of the tests' own, like one of `openDatabase`. But connecting takes as long as it takes: the processors may have
 * other work, which says nothing about the service.
 */
export function openPatiently(...parameters: Parameters<typeof openDatabase>): Pool {
  const pool = openDatabase(...parameters)
  // The pool reads its options whenever it connects.
  const onConnect = (client: PoolClient) => prepareSession(client, EVER)
  Object.assign(pool.options, { connectionTimeoutMillis: 0, onConnect })
  return pool
}

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
    const db = openPatiently(server, 1)
    await query(db, sql).finally(() => db.end())
  }
  await run(`create database ${name} template ${template}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) }
}
