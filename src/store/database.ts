import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { OutcomeUnknown, Unavailable } from '../errors.ts'
import { QUEUE_TIMEOUT } from '../limits.ts'
import { violationError } from './connections/constraints.ts'
import { isConsequence, serviceError, tellFailure } from './connections/failures.ts'
import { GatheringSocket } from './connections/gathering-socket.ts'
import { send, sendAlong } from './connections/prepared-query.ts'
import { HEARTBEAT_PAUSE, prepareSession } from './connections/session.ts'
import { prepared } from './connections/statements.ts'
import { types } from './connections/types.ts'

/** The connections for statements: any connection of a pool, or one connection, for example in a transaction. */
export type Db = pg.Pool | pg.PoolClient

/** The time limits of statements outside of transactions, by pool and connection; 0: none. */
const times = new WeakMap<Db, number>()

/**
 * Creates a pool of at most `size` connections to the primary; it connects when first used. A connection on which a
 * statement takes too long is replaced: perhaps Postgres, or the network, no longer answers on it.
 * @param time milliseconds for each statement, and for connecting if less than QUEUE_TIMEOUT; 0: no limit for statements
 * @param options.inTransaction milliseconds for each statement of a transaction, instead of `time`
 * @param options.lifetime the seconds after which a connection is replaced by a new one; 0: never
 */
export function openDatabase(
  url: string,
  size: number,
  time = 0,
  { inTransaction = time, lifetime = 0 }: { inTransaction?: number; lifetime?: number } = {},
): pg.Pool {
  const connecting = Math.min(time || QUEUE_TIMEOUT, QUEUE_TIMEOUT)
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: connecting,
    query_timeout: inTransaction,
    maxLifetimeSeconds: lifetime,
    types,
    // Statements that do not wait for each other's results are sent together, in one packet.
    pipeline: true,
    stream: () => new GatheringSocket(),
    // The pool awaits the promise, although the type of this option does not allow one.
    onConnect: (client) => prepareSession(client, connecting) as unknown as undefined,
  })
  // The pool replaces a broken connection. Its user gets the error from the running statement.
  const ignore = () => undefined
  pool.on('error', ignore).on('connect', (client) => client.on('error', ignore))
  times.set(pool, time)
  return pool
}

/**
 * Runs one statement and returns its rows. In the SQL, `:name` stands for the value of that binding.
 * @throws Unavailable if Postgres or a lock is unavailable; the error of a violated constraint (constraints.ts)
 */
export async function query<Row>(db: Db, sql: string, bindings: Record<string, unknown> = {}): Promise<Row[]> {
  const statement = prepared(sql)
  try {
    const values = statement.order.map((binding) => bound(bindings, binding))
    return (await send(db, statement, values, times.get(db))).rows as Row[]
  } catch (error) {
    // Its stack would only tell that Postgres has answered.
    if (error instanceof Error) Error.captureStackTrace(error)
    // The error of the statement sent before, the cause, reaches the caller first.
    if (isConsequence(error)) await nextIteration()
    else tellFailure(db, error)
    throw serviceError(error)
  }
}

/** Returns the first row of a statement, if any. Errors are those of `query`. */
export async function maybeOne<Row>(db: Db, sql: string, bindings?: Record<string, unknown>): Promise<Row | undefined> {
  return (await query<Row>(db, sql, bindings))[0]
}

/** Returns the row of a statement that always returns one. Errors are those of `query`. */
export async function one<Row>(db: Db, sql: string, bindings?: Record<string, unknown>): Promise<Row> {
  return (await query<Row>(db, sql, bindings))[0]!
}

/**
 * Returns SQL that deletes rows, but no locked ones: transactions that do this must not wait for each other's rows.
 * @param which their condition, perhaps with an order and a limit
 */
export function removal(table: string, key: string, which: string): string {
  return `delete from ${table} where (${key}) in (select ${key} from ${table} where ${which} for update skip locked)`
}

/** Returns the value of a binding. A missing value is a bug; SQL's null is an explicit null. */
function bound(bindings: Record<string, unknown>, name: string): unknown {
  if (bindings[name] === undefined) throw new Error(`no value for :${name}`)
  return bindings[name]
}

/** Runs `work` on one connection, so that independent statements are sent together. */
export async function together<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await connect(pool)
  times.set(client, times.get(pool)!)
  try {
    const result = await work(client)
    times.delete(client)
    client.release()
    return result
  } catch (error) {
    client.release(true)
    throw error
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: unknown) => {
    tellFailure(pool, error)
    throw serviceError(error)
  })
}

/** What is called after a commit on each connection. */
const sequels = new WeakMap<Db, (() => void)[]>()

/** Calls `sequel` once the transaction is known to be committed, and only then. */
export function onceCommitted(trx: Db, sequel: () => void): void {
  const all = sequels.get(trx)
  if (all === undefined) sequels.set(trx, [sequel])
  else all.push(sequel)
}

/** Prepared statements, because only these are sent together with others. */
const BEGIN = { name: 'begin', text: 'begin' }
const COMMIT = { name: 'commit', text: 'commit' }
const HEARTBEAT = { name: 'heartbeat', text: 'select' }

/**
 * A transaction on its own connection. Disposal rolls it back unless it was committed. If the process stands still,
 * Postgres ends the transaction after IDLE_TIMEOUT, and so releases its locks.
 */
export class Transaction implements AsyncDisposable {
  readonly db: pg.PoolClient
  readonly #pool: pg.Pool
  /** The number under which Postgres remembers the outcome, and its present incarnation. */
  readonly #identity: Promise<Identity>
  readonly #heartbeat: NodeJS.Timeout
  #isOpen = true

  constructor(pool: pg.Pool, db: pg.PoolClient, { anySchema }: Schema) {
    this.#pool = pool
    this.db = db
    // Not awaited, so that they are sent with the first statement.
    void sendAlong(send(db, BEGIN))
    this.#identity = sendAlong(one<Identity>(db, identity(anySchema)))
    this.#heartbeat = setInterval(() => void sendAlong(send(db, HEARTBEAT)), HEARTBEAT_PAUSE)
  }

  /**
   * Resolves only if the transaction is committed, also if the connection breaks meanwhile.
   * @throws Unavailable, then nothing was stored; OutcomeUnknown; the error of a violated constraint (constraints.ts)
   */
  async commit(): Promise<void> {
    const all = this.#end()
    try {
      const { tag } = await send(this.db, COMMIT)
      if (tag !== 'COMMIT') throw new Error('a statement failed unnoticed, so the transaction was rolled back')
      this.db.release()
    } catch (error) {
      // A session is unharmed if only a constraint was violated.
      this.db.release(violationError(error) === undefined)
      tellFailure(this.db, error)
      const failure = serviceError(error)
      if (!(failure instanceof Unavailable && (await this.#isCommitted()))) throw failure
    }
    for (const sequel of all) sequel()
  }

  /**
   * Asks Postgres, on another connection, for the outcome.
   * @throws OutcomeUnknown if Postgres stays away; or if it has crashed, or a standby has replaced it, and it may have
   *   given the number to another transaction
   */
  async #isCommitted(): Promise<boolean> {
    const { id, incarnation } = await this.#identity
    const end = performance.now() + QUEUE_TIMEOUT
    let failure: unknown
    while (performance.now() < end) {
      try {
        const { status, current } = await one<Outcome>(this.#pool, STATUS, { id, incarnation })
        const isKnown = incarnation !== null
        if (status === 'committed' && !(isKnown && current === incarnation))
          throw new OutcomeUnknown('Postgres crashed, or a standby has replaced it, during a commit')
        if (status !== 'in progress') return status === 'committed'
        if (isKnown && current !== incarnation) return false
        // Postgres has not noticed that the connection broke. It commits or rolls back before the session ends.
        await query(this.#pool, TERMINATE, { id })
      } catch (error) {
        if (error instanceof OutcomeUnknown) throw error
        failure = error
      }
      await sleep(STATUS_PAUSE)
    }
    throw new OutcomeUnknown('the outcome of a commit is unknown', { cause: failure })
  }

  /** Ends the heartbeat, and returns what `onceCommitted` has left. */
  #end(): (() => void)[] {
    this.#isOpen = false
    clearInterval(this.#heartbeat)
    const all = sequels.get(this.db) ?? []
    sequels.delete(this.db)
    return all
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return
    this.#end()
    const rollback = this.db.query('rollback').then(() => true)
    const isRolledBack = await rollback.catch(() => false)
    this.db.release(!isRolledBack)
  }
}

interface Identity {
  id: string
  /** null just after a crash (incarnations.ts), and with any schema. */
  incarnation: string | null
}

/** The status of a transaction at Postgres, and the present incarnation. */
interface Outcome {
  status: string | null
  current: string | null
}

interface Schema {
  /** True if the schema may be older than ours, or absent. Then the outcome of a broken commit may stay unknown. */
  anySchema: boolean
}

function identity(anySchema: boolean): string {
  return `select pg_current_xact_id() as id, ${anySchema ? 'null' : '(select id from incarnations)'} as incarnation`
}

/**
 * A commit that waits for synchronous standbys, and whose session ends meanwhile, counts as committed before they have
 * it. So this statement also writes something: its own commit is acknowledged only when they have all before it. After
 * a crash Postgres may not have given the number yet: then the transaction was lost.
 */
const STATUS = `select (select id from incarnations) as current, case
    when cast(:incarnation as uuid) is not null
      and (select id from incarnations) is distinct from cast(:incarnation as uuid)
      and cast(:id as xid8) >= pg_snapshot_xmax(pg_current_snapshot()) then null
    else pg_xact_status(cast(:id as xid8)) end as status
  from pg_logical_emit_message(true, 'zoneplane', '')`
const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and backend_xid = xid(cast(:id as xid8))`

/** Milliseconds between two questions for the outcome of a transaction. */
const STATUS_PAUSE = 50

/** @throws Unavailable without a connection */
export async function begin(pool: pg.Pool, schema: Schema = { anySchema: false }): Promise<Transaction> {
  return new Transaction(pool, await connect(pool), schema)
}

/** Runs `work` in a transaction: commits if it resolves, otherwise rolls back. Errors are those of `query`. */
export async function transaction<T>(
  pool: pg.Pool,
  work: (trx: pg.PoolClient) => Promise<T>,
  schema?: Schema,
): Promise<T> {
  await using trx = await begin(pool, schema)
  const result = await work(trx.db)
  await trx.commit()
  return result
}

/**
 * Commits nothing, but durably: a synchronous standby, if any, confirms it. A caller that acknowledges a request
 * without any work calls this: a former primary may have no work where the new one has some.
 * @throws Unavailable
 */
export async function confirmPrimary(db: Db): Promise<void> {
  await query(db, `select pg_logical_emit_message(true, 'zoneplane', '')`)
}
