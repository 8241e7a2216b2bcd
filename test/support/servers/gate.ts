import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from './ports.ts'

/** A TCP proxy in front of Postgres that can refuse connections. */
export interface Gate {
  /** The database's URL, through the gate. */
  url: string
  /** Breaks every connection and refuses new ones, as if the server were gone. */
  shut(): Promise<void>
  /** Lets connections through again, at the same address. */
  open(): Promise<void>
}

/** A gate in front of the database at `url`, whose server listens on a socket in a folder. */
export async function startGate(url: string): Promise<Gate> {
  const { pathname, username, searchParams } = new URL(url)
  const path = `${searchParams.get('host')!}/.s.PGSQL.${searchParams.get('port')!}`
  const sockets = new Set<Socket>()
  const server = createServer((incoming) => {
    const onward = connect(path)
    for (const [from, to] of [
      [incoming, onward],
      [onward, incoming],
    ] as const) {
      sockets.add(from)
      from
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
      from.pipe(to)
    }
  })
  const port = await listen(server)
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}?sslmode=disable`,
    async shut() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
    async open() {
      await listen(server, port)
    },
  }
}
