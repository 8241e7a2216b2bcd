import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { GatheringSocket } from '../../src/store/connections/gathering-socket.ts'

type Query = (this: pg.Client, ...args: unknown[]) => unknown

/** The queries of the background loops, those with which a session begins, and those of writes that take over a second. */
const TIMED =
  /from marks\s+where retry_at|^select from marks where zone|^select$|pg_is_in_recovery|pg_walfile_name|from incarnations$/

/** The SQL statements that this process sends while `work` runs, without those that depend on time. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  return statements(work, () => true)
}

/** The SQL statements that `work` itself sends: not those of loops that run beside it, nor of what a request of it causes. */
export async function statementsBy(work: () => Promise<unknown>): Promise<string[]> {
  const own = new AsyncLocalStorage<true>()
  return statements(
    () => own.run(true, work),
    () => own.getStore() === true,
  )
}

/** The number of packets in which `work` sends such statements to Postgres. */
export async function packetsOf(work: () => Promise<unknown>): Promise<number> {
  const socket = GatheringSocket.prototype as unknown as { _writev: (...args: unknown[]) => void }
  const { _writev: write } = socket
  const filled = new Set<unknown>()
  let packets = 0
  socket._writev = function counted(...args) {
    if (filled.delete(this)) packets++
    write.apply(this, args)
  }
  try {
    await statements(
      work,
      () => true,
      (client) => filled.add((client as unknown as { connection: { stream: unknown } }).connection.stream),
    )
  } finally {
    socket._writev = write
  }
  return packets
}

async function statements(
  work: () => Promise<unknown>,
  counts: () => boolean,
  sends?: (client: pg.Client) => void,
): Promise<string[]> {
  const client = pg.Client.prototype as unknown as { query: Query }
  const { query } = client
  const sent: string[] = []
  client.query = function counted(...args) {
    const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text?: string }).text
    // Submitting a prepared query object passes here once, with its text.
    if (text !== undefined && counts() && !TIMED.test(text)) {
      sent.push(text)
      sends?.(this)
    }
    return query.apply(this, args)
  }
  try {
    await work()
  } finally {
    client.query = query
  }
  return sent
}
