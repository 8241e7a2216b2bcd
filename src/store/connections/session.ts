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
 * Where a server stands in the history of a database. Its timeline is a number, which is the next one after each promotion
 * of a standby; the names of the files of the log begin with it. Primary and standbys have the same system identifier.
 */
interface Position {
  system: string
  timeline: string
}

const POSITION = `select cast(system_identifier as text) as system,
  left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline from pg_control_system()`

/** The newest timeline that this process has seen of each system. */
const newest = new Map<string, string>()

/** A server that says it is the primary, although a standby has replaced it. */
export class FormerPrimary extends Error {
  /** As in `notPrimary`. */
  readonly code = '25006'
}

/** The timelines on which connections have begun. */
const timelines = new WeakMap<object, string>()

/** The connections of each pool. */
const connections = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

/** Prepares a new connection for statements. Errors are those of `requirePrimary`. */
export async function prepareSession(client: pg.ClientBase): Promise<void> {
  await Promise.all([requirePrimary(client), client.query(SESSION)])
}

/**
 * Makes sure that a new connection leads to the primary, as far as this process knows.
 * @throws an error for which `isUnavailable` holds if the server is a standby; FormerPrimary
 */
export async function requirePrimary(client: pg.ClientBase): Promise<void> {
  const asked = client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  const [{ rows }, position] = await Promise.all([asked, positionOf(client)])
  if (rows[0]!.standby) throw notPrimary('the server is a standby')
  if (position === undefined) return
  const { system, timeline } = position
  const known = newest.get(system)!
  if (timeline < known) {
    throw new FormerPrimary(`the server is a former primary: it is on timeline ${timeline}, and ${known} is the newest`)
  }
  timelines.set(client, timeline)
}

/** Undefined if the server does not tell, as a standby, or one that only resembles Postgres. */
async function positionOf(db: pg.Pool | pg.ClientBase): Promise<Position | undefined> {
  try {
    const { rows } = await db.query<Position>(POSITION)
    const { system, timeline } = rows[0]!
    if (timeline > (newest.get(system) ?? '')) newest.set(system, timeline)
    return rows[0]
  } catch (error) {
    if (isUnavailable(error)) throw error
    return undefined
  }
}

/** Asks the server, and returns the newest timeline that this process has seen; undefined if the server does not tell. */
export async function timelineAt(db: pg.Pool | pg.ClientBase): Promise<string | undefined> {
  const position = await positionOf(db)
  return position && newest.get(position.system)
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
