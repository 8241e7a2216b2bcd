import type pg from 'pg'
import { QUEUE_TIMEOUT } from '../../limits.ts'
import { isUnavailable, notPrimary } from './failures.ts'

/**
 * Milliseconds after which Postgres ends a transaction of a process that stands still; and between two heartbeats while
 * a transaction waits for PowerDNS.
 */
export const IDLE_TIMEOUT = 20_000
export const HEARTBEAT_PAUSE = 5_000

/**
 * Milliseconds between two checks of Postgres whether the client of a running statement is still there. Without them,
 * statements that were given up would go on, and there could be more sessions than the pools have connections.
 */
const LOST_CLIENT_PAUSE = 1_000

/** Settings of every session. synchronous_commit is set here because the server's default may be weaker. */
const SETTINGS = {
  timezone: 'UTC',
  synchronous_commit: 'on',
  lock_timeout: QUEUE_TIMEOUT,
  idle_in_transaction_session_timeout: IDLE_TIMEOUT,
  client_connection_check_interval: LOST_CLIENT_PAUSE,
}

const SESSION = `select pg_is_in_recovery() as standby,
  ${Object.entries(SETTINGS)
    .map(([name, value]) => `set_config('${name}', '${value}', false)`)
    .join()}`

/**
 * The position of a server in the history of a database. Its timeline is a number, which increases at each promotion of
 * a standby; the log's file names begin with it. Primary and standbys have the same system identifier.
 */
interface Position {
  system: string
  timeline: string
}

const POSITION = `select cast(system_identifier as text) as system,
  left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline from pg_control_system()`

/** The newest timeline that this process has seen of a system, and its connections that have begun there. */
interface Newest {
  timeline: string
  clients: Set<pg.ClientBase>
}

/** The newest timelines by system. */
const newest = new Map<string, Newest>()

/**
 * Makes sure that a new connection leads to the primary, as far as this process knows, and prepares it for statements.
 * @param time milliseconds that this may take
 * @throws an error for which `isUnavailable` holds if the server is a standby, or a standby has replaced it
 */
export async function prepareSession(client: pg.ClientBase, time: number): Promise<void> {
  const late = setTimeout(destroy, time, client)
  try {
    await prepare(client)
  } finally {
    clearTimeout(late)
  }
}

async function prepare(client: pg.ClientBase): Promise<void> {
  const asked = client.query<{ standby: boolean }>(SESSION)
  const [{ rows }, position] = await Promise.all([asked, positionOf(client)])
  if (rows[0]!.standby) throw notPrimary('the server is a standby')
  if (position === undefined) return
  const { timeline, clients } = newestAfter(position)
  if (position.timeline < timeline) {
    throw notPrimary(
      `the server is a former primary: it is on timeline ${position.timeline}, and ${timeline} is the newest`,
    )
  }
  clients.add(client)
  client.once('end', () => clients.delete(client))
}

/** Returns the newest timeline, given a server's position. Breaks the connections to a server that was replaced. */
function newestAfter({ system, timeline }: Position): Newest {
  const known = newest.get(system)
  if (known !== undefined && known.timeline >= timeline) return known
  for (const client of known?.clients ?? []) destroy(client)
  const found = { timeline, clients: new Set<pg.ClientBase>() }
  newest.set(system, found)
  return found
}

/** Breaks a connection. If the machine at its other end is gone, it would hang until TCP gives up: some 15 minutes. */
function destroy(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}

/** Returns the position; undefined if the server does not report it, as a standby, or one only similar to Postgres. */
async function positionOf(client: pg.ClientBase): Promise<Position | undefined> {
  try {
    return (await client.query<Position>(POSITION)).rows[0]
  } catch (error) {
    if (isUnavailable(error)) throw error
    return undefined
  }
}
