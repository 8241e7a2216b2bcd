import { Socket } from 'node:net'
import pg from 'pg'
import { Unavailable } from '../errors.ts'
import { TURN_TIME } from '../limits.ts'
import { toDuration, type Duration, type Timestamp } from '../time.ts'
import { violated } from './constraints.ts'

/** Where statements run: the pool, each on any connection, or one transaction. */
export type Db = pg.Pool | pg.PoolClient

/** Settings of every session. What depends on the commit's durability may not be left to the server's defaults. */
const SESSION = `
  set timezone = 'UTC';
  set synchronous_commit = on;
  set lock_timeout = ${TURN_TIME};
  set idle_in_transaction_session_timeout = '10min';
`

/** Postgres' number of the type text[]. */
const TEXT_ARRAY = 1009

/** Timestamps keep their microseconds (a Date would drop them), bigints are small enough to be numbers here. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp)
types.setTypeParser(TEXT_ARRAY, parseTextArray)
types.setTypeParser(pg.types.builtins.INTERVAL, parseInterval)
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Sends everything written in one tick as one packet: waking Postgres up is what costs. */
class GatheringSocket extends Socket {
  override uncork(): void {
    process.nextTick(() => {
      super.uncork()
    })
  }
}

/**
 * A pool of at most `size` connections; it connects when first used.
 * @param time milliseconds that a connection is waited for, and a statement may take; 0: TURN_TIME, and what it takes
 */
export function openDatabase(url: string, size: number, time = 0): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: time || TURN_TIME,
    query_timeout: time,
    types,
    // Statements that do not need each other's results are sent together, in one packet.
    pipeline: true,
    stream: () => new GatheringSocket(),
    // The pool waits for the promise, although the type of this option does not tell.
    onConnect: (client) => client.query(SESSION) as unknown as undefined,
  })
  // A connection that breaks is replaced when the next one is needed; who uses it learns from his statement.
  const ignore = () => undefined
  pool.on('error', ignore).on('connect', (client) => client.on('error', ignore))
  return pool
}

/** `2026-01-31 12:00:00.12+00`, as Postgres writes it in UTC, to `2026-01-31T12:00:00.120000Z`. */
function parseTimestamp(text: string): Timestamp {
  const [date, time = ''] = text.slice(0, -3).split(' ')
  const [second, fraction = ''] = time.split('.')
  return `${date}T${second}.${fraction.padEnd(6, '0')}Z`
}

const getTypeParser = pg.types.getTypeParser as (type: number) => (text: string) => string[]
const parseAnyTextArray = getTypeParser(TEXT_ARRAY)

/** Most need no unquoting, and the driver takes each character by itself. */
function parseTextArray(text: string): string[] {
  if (text === '{}') return []
  return /["\\]|\bNULL\b/.test(text) ? parseAnyTextArray(text) : text.slice(1, -1).split(',')
}

/** `1 year 2 mons 3 days 04:05:06.7`, as Postgres writes it, to `428 04:05:06.700000`; a month counts 30 days. */
function parseInterval(text: string): Duration {
  const [, years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0, fraction = ''] =
    /^(?:(\d+) years? ?)?(?:(\d+) mons? ?)?(?:(\d+) days? ?)?(?:(\d+):(\d+):(\d+)(?:\.(\d+))?)?$/.exec(text) ?? []
  const wholeDays = 365 * Number(years) + 30 * Number(months) + Number(days)
  const wholeSeconds = ((24 * wholeDays + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
  return toDuration(BigInt(wholeSeconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0')))
}

/**
 * Runs one statement, whose bindings are written `:name`, and returns its rows.
 * @throws Unavailable if Postgres or a lock is not to be had; what a violated constraint means (constraints.ts)
 */
export async function query<Row>(db: Db, sql: string, bindings: Record<string, unknown> = {}): Promise<Row[]> {
  const { name, text, order } = prepared(sql)
  try {
    const result = await db.query({ name, text, values: order.map((binding) => bound(bindings, binding)) })
    return result.rows as Row[]
  } catch (error) {
    throw translate(error)
  }
}

/** A value that is missing is a mistake of the program; null must be said. */
function bound(bindings: Record<string, unknown>, name: string): unknown {
  if (bindings[name] === undefined) throw new Error(`no value for :${name}`)
  return bindings[name]
}

interface Statement {
  /** Each connection has a statement parsed and planned once, under this name. */
  name: string
  text: string
  order: string[]
}

/** All statements of the program; their texts are few, because values are bound. */
const statements = new Map<string, Statement>()

function prepared(sql: string): Statement {
  const known = statements.get(sql)
  if (known !== undefined) return known
  const order: string[] = []
  const text = sql.replace(/(?<![:\w]):([a-zA-Z]+)/g, (_, binding: string) => {
    if (!order.includes(binding)) order.push(binding)
    return `$${order.indexOf(binding) + 1}`
  })
  const statement = { name: `zoneplane_${statements.size}`, text, order }
  statements.set(sql, statement)
  return statement
}

/** Runs `work` on one connection, so that statements which do not wait for each other travel together. */
export async function together<T>(pool: pg.Pool, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await connect(pool)
  try {
    return await work(client)
  } finally {
    client.release()
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: unknown) => {
    throw translate(error)
  })
}

/** As prepared statements, which travel with others; plain ones would not. */
const BEGIN = { name: 'begin', text: 'begin' }
const COMMIT = { name: 'commit', text: 'commit' }

/** A transaction on a connection of its own. Unless it is committed, its disposal leaves no trace of it. */
export class Transaction implements AsyncDisposable {
  readonly db: pg.PoolClient
  #isOpen = true

  constructor(db: pg.PoolClient) {
    this.db = db
    // Not waited for: it travels with the first statement.
    void sendAlong(db.query(BEGIN))
  }

  /** @throws Unavailable; what a violated constraint means (constraints.ts) */
  async commit(): Promise<void> {
    this.#isOpen = false
    try {
      const { command } = await this.db.query(COMMIT)
      if (command !== 'COMMIT') throw new Error('a statement failed unnoticed, so the transaction was rolled back')
    } catch (error) {
      this.db.release(true)
      throw translate(error)
    }
    this.db.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    const isRolledBack = await this.db.query('rollback').then(
      () => true,
      () => false,
    )
    this.db.release(!isRolledBack)
  }
}

/** @throws Unavailable if there is no connection */
export async function begin(pool: pg.Pool): Promise<Transaction> {
  return new Transaction(await connect(pool))
}

/** Runs `work` in a transaction that commits if it resolves, and else leaves no trace. Errors are those of `query`. */
export async function transaction<T>(pool: pg.Pool, work: (trx: pg.PoolClient) => Promise<T>): Promise<T> {
  await using trx = await begin(pool)
  const result = await work(trx.db)
  await trx.commit()
  return result
}

/**
 * Lets a statement travel while something else is waited for. Of a transaction's last statement nothing else need be
 * waited for than the commit: that fails if the statement does.
 */
export function sendAlong<T>(statement: Promise<T>): Promise<T> {
  statement.catch(() => undefined)
  return statement
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
    CONNECTION_CODES.has(code) ||
    // Class 08: connection; 53: resources; 57: operator's intervention; 25P03: our own limit; 55P03: lock not available.
    /^(08|53|57)|^(25P03|55P03|40001|40P01)$/.test(code) ||
    /^(Connection terminated|timeout expired|timeout exceeded|Client has encountered|Client was closed|Cannot use a pool)/.test(
      error.message,
    )
  return away ? new Unavailable(`Postgres: ${error.message}`, { cause: error }) : error
}
