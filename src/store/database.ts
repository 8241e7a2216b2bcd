import knex, { type Knex } from 'knex'
import pg from 'pg'
import { Unavailable } from '../errors.ts'
import { TURN_TIME } from '../limits.ts'
import type { Timestamp } from '../time.ts'
import { violated } from './constraints.ts'

const { types } = pg

/** Settings of every session. What depends on the commit's durability may not be left to the server's defaults. */
const SESSION = `
  set timezone = 'UTC';
  set synchronous_commit = on;
  set lock_timeout = ${TURN_TIME};
  set idle_in_transaction_session_timeout = '10min';
`

/** A pool of at most `size` connections; it connects when first used. */
export function openDatabase(url: string, size: number): Knex {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      types: { getTypeParser },
      connectionTimeoutMillis: TURN_TIME,
      // Statements that do not need each other's results are sent together.
      pipeline: true,
    } as Knex.PgConnectionConfig,
    acquireConnectionTimeout: TURN_TIME,
    pool: {
      min: 0,
      max: size,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        connection.query(SESSION, (error: Error | null) => {
          done(error, connection)
        })
      },
    },
  })
}

/** Timestamps keep their microseconds (a Date would drop them), bigints are small enough to be numbers here. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === types.builtins.TIMESTAMPTZ) return parseTimestamp
  if (oid === types.builtins.INT8) return Number
  return types.getTypeParser(oid, format as 'text')
}

/** `2026-01-31 12:00:00.12+00`, as Postgres writes it in UTC, to `2026-01-31T12:00:00.120000Z`. */
function parseTimestamp(text: string): Timestamp {
  const [date, time = ''] = text.slice(0, -3).split(' ')
  const [second, fraction = ''] = time.split('.')
  return `${date}T${second}.${fraction.padEnd(6, '0')}Z`
}

/**
 * Runs one statement and returns its rows.
 * @throws Unavailable if Postgres or a lock is not to be had; what a violated constraint means (constraints.ts)
 */
export async function query<Row>(db: Knex, sql: string, bindings: Record<string, unknown> = {}): Promise<Row[]> {
  try {
    const statement = db.raw<{ rows: Row[] }>(sql, bindings as Knex.ValueDict)
    const result = await (sql.includes(';') ? statement : statement.options({ name: statementName(sql) }))
    return result.rows
  } catch (error) {
    throw translate(error)
  }
}

const statementNames = new Map<string, string>()

/** A name for the statement, so that each connection has it parsed and planned once. Their texts are few. */
function statementName(sql: string): string {
  const name = statementNames.get(sql) ?? `zoneplane_${statementNames.size}`
  statementNames.set(sql, name)
  return name
}

/** Runs `work` in a transaction that commits if it resolves, and else leaves no trace. Errors are those of `query`. */
export async function transaction<T>(db: Knex, work: (trx: Knex) => Promise<T>): Promise<T> {
  try {
    return await db.transaction(work)
  } catch (error) {
    throw translate(error)
  }
}

const CONNECTION_CODES = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'EACCES',
]) // prettier-ignore

/** What Postgres' or the pool's error means to the service; the error itself where it means nothing more. */
function translate(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const violation = violated(error)
  if (violation !== undefined) return violation
  const code = (error as { code?: string }).code ?? ''
  const away =
    error.name === 'KnexTimeoutError' ||
    CONNECTION_CODES.has(code) ||
    // Class 08: connection; 53: resources; 57: operator's intervention; 25P03: our own limit; 55P03: lock not available.
    /^(08|53|57)|^(25P03|55P03|40001|40P01)$/.test(code) ||
    /^(Connection terminated|timeout expired|Client has encountered a connection error|Unable to acquire)/.test(
      error.message,
    )
  return away ? new Unavailable(`Postgres: ${error.message}`, { cause: error }) : error
}
