import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket } from 'node:dgram'
import { Server } from 'node:net'
import pg from 'pg'
import { GatheringSocket } from '../../src/store/connections/gathering-socket.ts'

type Query = (this: pg.Client, ...args: unknown[]) => unknown
type Emit = (this: unknown, event: string, ...args: unknown[]) => boolean

/** The queries with which a session begins, and those of writes that take over a second. */
const TIMED = /^select from marks where zone|^select$|pg_is_in_recovery|pg_walfile_name/

/** The events of servers and of UDP sockets with which a request begins. */
const RECEIVED = ['connection', 'request', 'message']

/** Which part of this process sends a query: the work itself, a request that it makes to a server here, or neither. */
const sender = new AsyncLocalStorage<'work' | 'request'>()
const isSent = () => sender.getStore() !== undefined

/** The SQL statements that `work` sends, and those of its requests to servers in this process: not those of loops beside it. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  return statements(work, isSent)
}

/** The SQL statements that `work` itself sends: neither those of its requests, nor of loops beside it. */
export async function statementsBy(work: () => Promise<unknown>): Promise<string[]> {
  return statements(work, () => sender.getStore() === 'work')
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
    await statements(work, isSent, (client) =>
      filled.add((client as unknown as { connection: { stream: unknown } }).connection.stream),
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
  const receivers = ([Server.prototype, Socket.prototype] as { emit: Emit }[]).map((receiver) => ({
    receiver,
    emit: receiver.emit,
  }))
  for (const { receiver, emit } of receivers)
    receiver.emit = function attributed(event, ...args) {
      const emitted = () => emit.call(this, event, ...args)
      return RECEIVED.includes(event) ? sender.run('request', emitted) : emitted()
    }
  try {
    await sender.run('work', work)
  } finally {
    client.query = query
    for (const { receiver, emit } of receivers) receiver.emit = emit
  }
  return sent
}
