import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { commonHeaders } from './http/middleware/headers.ts'
import { STOP_TIME } from './limits.ts'
import type { Log } from './log.ts'
import { createPowerDns } from './nameserver/powerdns.ts'
import { keepReconciled } from './service/reconcile.ts'
import { Turns } from './service/turns.ts'
import { openDatabase } from './store/database.ts'
import { migrate } from './store/migrate.ts'
import type { System } from './system.ts'
import { currentTime } from './time.ts'

/** What the service stands on is not there; the message is for the operator. */
export class StartError extends Error {}

/** The addresses of what the service stands on. */
export interface Backends {
  databaseUrl: string
  pdnsApiUrl: string
  pdnsApiKey: string
}

const CONNECTIONS = 10
/** Enough for all writers that PowerDNS can serve at once, and some that store what they will send. */
const WRITER_CONNECTIONS = 16
const MARK_CONNECTIONS = 4

/** Milliseconds that an idle connection stays open: longer than balancers keep theirs, so that they close it first. */
const KEEP_ALIVE = 75_000

/** A system of these parts; nothing is connected yet. */
export function createSystem(config: Config, backends: Backends, log: Log): System {
  return {
    config,
    db: openDatabase(backends.databaseUrl, CONNECTIONS),
    writersDb: openDatabase(backends.databaseUrl, WRITER_CONNECTIONS),
    marksDb: openDatabase(backends.databaseUrl, MARK_CONNECTIONS),
    nameserver: createPowerDns({
      url: backends.pdnsApiUrl,
      key: backends.pdnsApiKey,
      connections: config.pdnsConnections,
      primary: config.nameServers[0]!,
    }),
    turns: new Turns(),
    log,
    now: currentTime,
  }
}

export async function closeSystem(system: System): Promise<void> {
  await system.nameserver.close()
  await Promise.all([system.db.end(), system.writersDb.end(), system.marksDb.end()])
}

/**
 * Makes sure that Postgres and PowerDNS answer, and brings the schema up to date.
 * @throws StartError naming the address tried
 */
export async function prepare(system: System, backends: Backends): Promise<void> {
  await orElse(migrate(backends.databaseUrl), `Postgres at ${place(backends.databaseUrl)}`)
  await orElse(system.nameserver.probe(), `PowerDNS at ${place(backends.pdnsApiUrl)}`)
}

async function orElse(attempt: Promise<void>, where: string): Promise<void> {
  try {
    await attempt
  } catch (error) {
    throw new StartError(`${where} cannot be used: ${(error as Error).message}`, { cause: error })
  }
}

/** Host and port of a URL: nothing of it that is secret. */
function place(url: string): string {
  const { host, pathname, searchParams } = new URL(url)
  return `${host === '' ? (searchParams.get('host') ?? 'localhost') : host}${pathname === '/' ? '' : pathname}`
}

export interface Running {
  port: number
  /** Refuses new requests, finishes those that run, and stops reconciling. The system stays open. */
  stop(): Promise<void>
}

/** Serves a prepared system over HTTP and keeps it reconciled. @throws StartError */
export async function serve(system: System): Promise<Running> {
  const { host, port } = system.config
  const handle = createApp(system).callback()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    void handle(request, response)
  }
  // Without these two, Node would answer a request without Host, or with an unknown expectation, in a way of its own.
  const options = { requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE }
  const server = createServer(options, answer).on('checkExpectation', answer)
  answerGarbage(server, system)
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new StartError(`cannot listen on ${host}:${port}: ${(error as Error).message}`, { cause: error })
  }
  const reconciliation = keepReconciled(system)
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      // A connection that is kept alive may not bring new requests once its last one is answered.
      const idle = setInterval(() => {
        server.closeIdleConnections()
      }, 20)
      const late = setTimeout(() => {
        server.closeAllConnections()
      }, STOP_TIME)
      await closed
      clearInterval(idle)
      clearTimeout(late)
      await reconciliation.stop()
    },
  }
}

/** What is no HTTP at all is answered as an error of the API, too. */
function answerGarbage(server: Server, { config }: System): void {
  const latest = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (request, response) => latest.set(request.socket, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const refuse = () => {
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
      else socket.end(refusal(error, config))
    }
    // What came before on this connection, and was complete, gets its own answer first.
    const before = latest.get(socket)
    if (before?.req.complete === true && !before.closed) before.once('close', refuse)
    else refuse()
  })
}

function refusal(error: NodeJS.ErrnoException, config: Config): string {
  const [status, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'Request header too large.']
      : ['400 Bad Request', 'Bad request.']
  const body = JSON.stringify({ detail })
  const headers = {
    Connection: 'close',
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'X-Request-Id': randomUUID(),
    ...commonHeaders(config),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n')
}
