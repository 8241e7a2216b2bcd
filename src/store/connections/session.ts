import type pg from 'pg'
import { IDLE_TIMEOUT, QUEUE_TIMEOUT } from '../../limits.ts'
import { isUnavailable, notPrimary } from './failures.ts'

/** Settings of every session. synchronous_commit is set here because the server's default may be weaker. */
const SESSION = `
  set timezone = 'UTC';
  set synchronous_commit = on;
  set lock_timeout = ${QUEUE_TIMEOUT};
  set idle_in_transaction_session_timeout = ${IDLE_TIMEOUT};
`

/**
 * The timeline: a number, which is the next one after each promotion of a standby. The names of the files of the log begin
 * with it.
 */
const TIMELINE = 'select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline'

/** The timelines on which connections have begun. */
const timelines = new WeakMap<object, string>()

/** The connections of each pool. */
const connections = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

/** Prepares a new connection for statements. @throws an error for which `isUnavailable` holds if the server is a standby */
export async function prepareSession(client: pg.ClientBase): Promise<void> {
  const asked = client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  const [{ rows }, timeline] = await Promise.all([asked, timelineAt(client), client.query(SESSION)])
  if (rows[0]!.standby) throw notPrimary('the server is a standby')
  if (timeline !== undefined) timelines.set(client, timeline)
}

/** The timeline of the server now; undefined if it does not tell, as those that only resemble Postgres. */
export async function timelineAt(db: pg.Pool | pg.ClientBase): Promise<string | undefined> {
  try {
    const { rows } = await db.query<{ timeline: string }>(TIMELINE)
    return rows[0]!.timeline
  } catch (error) {
    if (isUnavailable(error)) throw error
    return undefined
  }
}

/** Whether two connections see the same history: the server was not replaced by its standby in between. */
export function haveSameTimeline(one: object, other: object): boolean {
  return timelines.get(one) === timelines.get(other)
}

/** Keeps count of a pool's connections. */
export function observe(pool: pg.Pool): void {
  const clients = new Set<pg.PoolClient>()
  connections.set(pool, clients)
  pool.on('connect', (client) => clients.add(client)).on('remove', (client) => clients.delete(client))
}

/**
 * Breaks the connections of a pool to a server that was replaced: if its machine is gone, they would hang until TCP gives
 * up, which takes a quarter of an hour.
 * @param timeline of the server now
 */
export function breakOthers(pool: pg.Pool, timeline: string): void {
  for (const client of connections.get(pool) ?? []) {
    const began = timelines.get(client)
    const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
    if (began !== undefined && began !== timeline) connection.stream.destroy()
  }
}
