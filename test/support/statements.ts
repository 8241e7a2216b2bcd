import pg from 'pg'

type Query = (this: pg.Client, ...args: unknown[]) => unknown

/** The queries of the background loops, those with which a session begins, and those of writes that take over a second. */
const TIMED =
  /from (marks|mails)\s+where retry_at|^select from marks where zone|^select$|^\s*set timezone|pg_is_in_recovery|pg_walfile_name|from incarnations$|^\(select from rollovers limit 1\)/

/** The SQL statements that this process sends while `work` runs, without those that depend on time. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const client = pg.Client.prototype as unknown as { query: Query }
  const { query } = client
  const statements: string[] = []
  client.query = function counted(...args) {
    const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text?: string }).text
    // Submitting a prepared query object passes here once, with its text.
    if (text !== undefined && !TIMED.test(text)) statements.push(text)
    return query.apply(this, args)
  }
  try {
    await work()
  } finally {
    client.query = query
  }
  return statements
}
