import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from '../ports.ts'

/**
 * What happens to a connection on which a client sends a COMMIT:
 * - pass: nothing
 * - cut: Postgres gets no COMMIT; both ends are closed
 * - forget: Postgres gets no COMMIT and still sees an open connection; the client's end is closed
 * - swallow: Postgres commits; both ends are closed instead of an answer
 */
export type CommitFate = 'pass' | 'cut' | 'forget' | 'swallow'

/** A proxy in front of Postgres that breaks connections. */
export interface PostgresProxy {
  url: string
  /** Decides what happens at each COMMIT from now on. */
  atCommit(fate: () => CommitFate): void
  /** Opens new connections to another server; open ones stay. */
  leadTo(databaseUrl: string): void
  /** Refuses new connections, or accepts them again; open ones stay. */
  refuse(isRefusing: boolean): void
  /** Lets nothing through the open connections any more; new ones work. */
  hang(): void
  /** Closes all connections. */
  cut(): void
  close(): Promise<void>
}

/** The end of a Bind message of the prepared statement `commit`, with an unnamed portal. */
const COMMIT = Buffer.from('\0commit\0')
/** What Postgres answers when it has committed. */
const COMMITTED = 'COMMIT\0'

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  let target = new URL(databaseUrl)
  const pairs = new Set<[Socket, Socket]>()
  let decide: () => CommitFate = () => 'pass'
  let isRefusing = false

  const server = createServer((client) => {
    if (isRefusing) {
      client.destroy()
      return
    }
    const upstream = open(target)
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    let isSwallowing = false
    /** The end of what Postgres has answered since then. */
    let answered = ''
    client.on('data', (chunk) => {
      const fate = chunk.includes(COMMIT) ? decide() : 'pass'
      if (fate === 'pass' || fate === 'swallow') upstream.write(chunk)
      if (fate === 'swallow') isSwallowing = true
      if (fate === 'cut') upstream.destroy()
      if (fate === 'forget') client.removeAllListeners('close')
      if (fate === 'cut' || fate === 'forget') client.destroy()
    })
    upstream.on('data', (chunk) => {
      if (!isSwallowing) return client.write(chunk)
      // Before it, there can be answers to statements that were sent together with COMMIT.
      answered = answered.slice(-COMMITTED.length) + chunk.toString('latin1')
      return answered.includes(COMMITTED) ? upstream.destroy() : undefined
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => {
      client.destroySoon()
      pairs.delete(pair)
    })
    for (const socket of pair) socket.on('error', () => socket.destroy())
  })

  const port = await listen(server)
  const user = target.username === '' ? '' : `${target.username}@`
  const url = `postgres://${user}127.0.0.1:${port}${target.pathname}?sslmode=disable`
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    url,
    atCommit(fate) {
      decide = fate
    },
    leadTo(url) {
      target = new URL(url)
    },
    refuse(now) {
      isRefusing = now
    },
    hang() {
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    cut,
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}

/** A connection to Postgres at its port, or at the Unix socket in the folder that the URL names as its host. */
function open({ hostname, port, searchParams }: URL): Socket {
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port || 5432}`) : connect(Number(port || 5432), host)
}
