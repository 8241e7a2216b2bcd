import pg from 'pg'
// @ts-expect-error The driver's types lack its modules.
import utils from 'pg/lib/utils.js'
import { types } from './types.ts'

const { prepareValue } = utils as { prepareValue: (value: unknown) => unknown }

/** What the driver offers its queries. Its types lack it. */
interface Connection {
  /** The texts of the prepared statements by their names: of those that Postgres has confirmed, and of those it has not. */
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void
  describe(what: { type: 'P'; name: '' }): void
  execute(portal: object): void
  sync(): void
}

interface Column {
  name: string
  parse: (text: string) => unknown
}

type Callback = (error: Error | null | undefined, result?: Result) => void

/** The rows of a statement, and what it was, as `COMMIT` or `INSERT 0 1`. */
export interface Result {
  rows: unknown[]
  tag: string
}

/** The columns of each statement that Postgres has described, by its name and connection: they never change. */
const described = new WeakMap<Connection, Map<string, Column[]>>()

interface Statement {
  name: string
  text: string
}

/**
 * Sends a prepared statement. Those that are sent in one tick to one connection share a packet.
 * @param time milliseconds that it may take; undefined: as many as the connection allows
 */
export function send(
  db: pg.Pool | pg.PoolClient,
  statement: Statement,
  values: unknown[] = [],
  time?: number,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const settle: Callback = (error, result) => {
      if (error == null) resolve(result!)
      else reject(error)
    }
    // The driver's types lack queries with a callback.
    const driver = db as unknown as { query: (query: PreparedQuery, values: undefined, callback: Callback) => void }
    driver.query(new PreparedQuery(statement, values, time), undefined, settle)
  })
}

/**
 * Lets the caller await a statement later or never, without an unhandled rejection. The last statement of a transaction
 * need not be awaited: if it fails, the commit also fails.
 */
export function sendAlong<T>(statement: Promise<T>): Promise<T> {
  statement.catch(() => undefined)
  return statement
}

/**
 * A query of the driver by a prepared statement, whose columns Postgres describes only the first time on a connection. To read
 * them each time is a good part of the driver's work for a small answer.
 */
class PreparedQuery extends pg.Query {
  readonly name: string
  readonly #values: unknown[]
  /** Milliseconds; undefined: those of the connection. The driver reads it. */
  readonly query_timeout: number | undefined
  /** Set by the driver. */
  declare callback: Callback
  #statements!: Map<string, Column[]>
  #columns: Column[] | undefined
  readonly #result: Result = { rows: [], tag: '' }
  #failure: Error | undefined

  constructor(statement: Statement, values: unknown[], time: number | undefined) {
    super(statement.text)
    this.name = statement.name
    this.#values = values
    this.query_timeout = time
  }

  /** Sends the messages of the statement (PostgreSQL, §55.2.3). */
  prepare(connection: Connection): void {
    const { name, text } = this as this & { text: string }
    this.#statements = statementsOf(connection)
    this.#columns = this.#statements.get(name)
    if ((connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]) === undefined) {
      connection.parse({ name, text })
      connection.submittedNamedStatements[name] = text
    }
    connection.bind({ statement: name, values: this.#values, valueMapper: prepareValue })
    if (this.#columns === undefined) connection.describe({ type: 'P', name: '' })
    connection.execute({})
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }))
    this.#columns = columns
    this.#statements.set(this.name, columns)
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      this.#result.rows.push(rowOf(this.#columns!, fields))
    } catch (error) {
      this.#failure ??= error as Error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#result.tag = text
    // Postgres does not describe what returns no rows.
    if (this.#columns === undefined) this.#statements.set(this.name, [])
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure ?? null, this.#result)
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}

const parserOf = types.getTypeParser.bind(types) as unknown as (type: number) => (text: string) => unknown

function statementsOf(connection: Connection): Map<string, Column[]> {
  const known = described.get(connection)
  if (known !== undefined) return known
  const statements = new Map<string, Column[]>()
  described.set(connection, statements)
  return statements
}

function rowOf(columns: Column[], texts: (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < texts.length; i++) {
    const { name, parse } = columns[i]!
    const text = texts[i] as string | null
    row[name] = text === null ? null : parse(text)
  }
  return row
}
