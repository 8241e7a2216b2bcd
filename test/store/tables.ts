import test from 'ava'
import type { Pool, PoolClient } from 'pg'
import { createDatabase, openPatiently } from '../support/servers/postgres/databases.ts'

/** Inserts rows with SQL; every function resolves with the new row's id. */
export interface Tables {
  pool: Pool
  account(members?: Row): Promise<string>
  token(ownerId: string, members?: Row): Promise<string>
  domain(ownerId: string, members?: Row): Promise<string>
}

export type Row = Record<string, unknown>

let rows = 0

/** Creates a database for a test file, without a service on it. */
export function useTables(): () => Tables {
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined
  let pool: Pool | undefined
  test.before('a database is made', async () => {
    database = await createDatabase()
    pool = openPatiently(database.url, 10)
  })
  test.after.always('the database is dropped', async () => {
    await pool?.end()
    await database?.drop()
  })
  return () => ({
    pool: pool!,
    account: (members = {}) =>
      insert(pool!, 'accounts', {
        ...{
          created: 'now',
          email: `a${++rows}@example.test`,
          state: 'active',
          credentials_changed: 'now',
          ...members,
        },
      }),
    token: (ownerId, members = {}) =>
      insert(pool!, 'tokens', {
        ...{ created: 'now', owner_id: ownerId, secret_hash: Buffer.from(`hash ${++rows}`), ...members },
      }),
    domain: (ownerId, members = {}) =>
      insert(pool!, 'domains', {
        ...{ name: `d${++rows}.test`, owner_id: ownerId, minimum_ttl: 60, version: 1, size: 0 },
        ...{ created: 'now', published: 'now', touched: 'now', ...members },
      }),
  })
}

/** Adds a row, and returns its id. */
export async function insert(db: Pool | PoolClient, table: string, row: Row): Promise<string> {
  const columns = Object.keys(row)
  const values = columns.map((_, i) => `$${i + 1}`).join(', ')
  const sql = `insert into ${table} (${columns.join(', ')}) values (${values}) returning id`
  const result = await db.query<{ id: string }>(sql, Object.values(row))
  return result.rows[0]!.id
}

/** An RRset's row. */
export function rrsetRow(domainId: string, members: Row = {}): Row {
  return {
    ...{ domain_id: domainId, subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] },
    ...{ created: 'now', touched: 'now', ...members },
  }
}

/** The name of the constraint that `work` breaks; undefined if it breaks none. */
export async function broken(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    const { constraint, column, message } = error as { constraint?: string; column?: string; message: string }
    return constraint ?? column ?? message
  }
}

/**
 * Runs `second` in a transaction while the one of `first` is open, then commits the first. Returns the constraint that
 * the second breaks. The second may have to wait for the first.
 */
export async function brokenAcross(
  pool: Pool,
  first: (client: PoolClient) => Promise<unknown>,
  second: (client: PoolClient) => Promise<unknown>,
): Promise<string | undefined> {
  const [one, other] = await Promise.all([pool.connect(), pool.connect()])
  try {
    await Promise.all([one.query('begin'), other.query('begin')])
    await first(one)
    const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid')
    const progress = { done: false }
    const outcome = broken(second(other)).finally(() => (progress.done = true))
    while (!progress.done && !(await isBlocked(pool, rows[0]!.pid)));
    await one.query('commit')
    return (await outcome) ?? (await broken(other.query('commit')))
  } finally {
    await other.query('rollback')
    one.release()
    other.release()
  }
}

async function isBlocked(pool: Pool, pid: number): Promise<boolean> {
  const { rows } = await pool.query<{ blocked: boolean }>('select cardinality(pg_blocking_pids($1)) > 0 as blocked', [
    pid,
  ])
  return rows[0]!.blocked
}
