import pg from 'pg'
import { StartError } from '../../errors.ts'
import { QUEUE_TIMEOUT } from '../../limits.ts'

/**
 * Makes sure that a connection is one session of Postgres as long as it lasts. Prepared statements, settings and locks
 * need that; PgBouncer does not provide it with `pool_mode = transaction` or `statement`.
 * @throws StartError; an error for which `isUnavailable` holds
 */
export async function requireSessions(url: string): Promise<void> {
  const options = { connectionString: url, connectionTimeoutMillis: QUEUE_TIMEOUT, query_timeout: QUEUE_TIMEOUT }
  const [one, other] = [new pg.Client(options), new pg.Client(options)]
  try {
    for (const client of [one, other]) await client.on('error', () => undefined).connect()
    const before = await pidOf(one)
    // The other takes the session from the one, if they share sessions.
    await other.query('begin')
    const taken = await pidOf(other)
    if (taken !== before && (await pidOf(one)) === before) return
  } catch (error) {
    // The answer of PgBouncer to a transaction with pool_mode = statement.
    if (!/transaction blocks not allowed/.test((error as Error).message)) throw error
  } finally {
    await Promise.allSettled([one, other].map((client) => client.end()))
  }
  throw new StartError(
    'DATABASE_URL leads to a pooler that shares sessions of Postgres among connections, as PgBouncer with ' +
      'pool_mode = transaction. Zoneplane needs pool_mode = session, or a connection without pooler',
  )
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}
