import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { lacksIPv6, reasonOf, StartError } from '../errors.ts'
import { CONNECTIONS_MAX, CONNECTIONS_PER_CLIENT, STOP_TIME } from '../limits.ts'
import { networkOf } from '../service/throttling/callers.ts'
import type { Config } from '../settings/config.ts'
import type { System } from '../system.ts'
import { directClient, rememberPeer } from './kit/caller.ts'
import { commonHeaders } from './middleware/headers.ts'

/** Milliseconds that an idle connection stays open: longer than at load balancers, so that they close it first. */
const KEEP_ALIVE = 75_000

/** Requests that wait on a connection for the one before them; beyond that, nothing more is read. */
const PIPELINED_MAX = 8

export interface Listener {
  /** The port, the same on every address. */
  port: number
  /** Refuses new requests and finishes running ones. */
  close(): Promise<void>
}

/** Serves HTTP on every address of the configuration. @throws StartError */
export async function listen(system: System, handle: RequestListener): Promise<Listener> {
  const { hosts, port } = system.config
  const servers: Server[] = []
  const connections = new Map<string, number>()
  for (const host of hosts) {
    const server = createHttpServer(system, handle, connections)
    try {
      await open(server, host, servers[0] === undefined ? port : portOf(servers[0]), 'HOST, PORT')
      servers.push(server)
    } catch (error) {
      if (hosts.length > 1 && lacksIPv6(host, error as StartError)) continue
      await Promise.all(servers.map(close))
      throw error
    }
  }
  return {
    port: portOf(servers[0]!),
    async close() {
      await Promise.all(servers.map(close))
    },
  }
}

/** Serves only `GET /metrics`, on an address of its own; undefined: nothing is measured. @throws StartError */
export async function listenForScrapes({ config, metrics }: System): Promise<Listener | undefined> {
  const { metricsHost, metricsPort } = config
  if (metrics === undefined || metricsPort === undefined) return undefined
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') response.writeHead(404).end()
    else if (isLoopback(metricsHost) && !isLoopback(hostOf(request))) response.writeHead(403).end()
    else {
      metrics.text().then(
        (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
        () => response.writeHead(500).end(),
      )
    }
  })
  await open(server, metricsHost, metricsPort, 'METRICS_HOST, METRICS_PORT')
  return {
    port: portOf(server),
    async close() {
      const closed = close(server)
      server.closeAllConnections()
      await closed
    },
  }
}

/** Reports whether an address, or a name, is that of this machine for itself. */
function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)
}

/** Returns the host that a request names, without a port. A browser that a page elsewhere has led here names that page's. */
function hostOf({ headers }: IncomingMessage): string {
  return (headers.host ?? '').replace(/:\d+$/, '')
}

function createHttpServer(system: System, handle: RequestListener, connections: Map<string, number>): Server {
  // Otherwise Node itself would answer requests without Host, or with an unknown expectation.
  const options = { requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE }
  const lines: Lines = new WeakMap()
  const handleNext = oneAtATime(handle, lines)
  const server = createServer(options, handleNext).on('checkExpectation', handleNext).on('connection', rememberPeer)
  server.maxConnections = CONNECTIONS_MAX
  boundConnections(server, system, connections)
  answerInvalidHttp(server, system, lines)
  return server
}

/** The latest response of each connection, and how many requests wait for the one before them. */
type Lines = WeakMap<Duplex, { last: ServerResponse | undefined; waiting: number }>

/**
 * Handles the requests of each connection one after the other, however many a client sends at once (RFC 9112 §9.3.2): so
 * the bound on connections is one on what a client has in work. What waits when the connection is gone is not begun.
 */
function oneAtATime(handle: RequestListener, lines: Lines): RequestListener {
  return (request, response) => {
    const { socket } = request
    const line = lines.get(socket) ?? { last: undefined, waiting: 0 }
    const before = line.last
    line.last = response
    if (before === undefined) lines.set(socket, line)
    if (before === undefined || (line.waiting === 0 && before.closed)) {
      handle(request, response)
      return
    }
    if (++line.waiting === PIPELINED_MAX) socket.pause()
    before.once('close', () => {
      if (line.waiting-- === PIPELINED_MAX) socket.resume()
      if (!socket.destroyed) handle(request, response)
    })
  }
}

/** Closes connections beyond CONNECTIONS_PER_CLIENT. @param connections the number of open ones by client */
function boundConnections(server: Server, { config }: System, connections: Map<string, number>): void {
  server.on('connection', (socket) => {
    const address = directClient(config, socket)
    if (address === undefined) return
    const client = networkOf(address)
    const others = connections.get(client) ?? 0
    if (others >= CONNECTIONS_PER_CLIENT) {
      socket.destroy()
      return
    }
    connections.set(client, others + 1)
    socket.once('close', () => {
      const left = connections.get(client)! - 1
      if (left === 0) connections.delete(client)
      else connections.set(client, left)
    })
  })
}

/** @param settings those that specify the address @throws StartError */
async function open(server: Server, host: string, port: number, settings: string): Promise<void> {
  // Without an address, Node listens on `::`, or on 0.0.0.0 on a machine without IPv6.
  server.listen({ port, ...(host !== '::' && { host }) })
  await once(server, 'listening').catch((error: unknown) => {
    throw new StartError(`cannot listen on ${host} port ${port} (${settings}): ${reasonOf(error)}`, { cause: error })
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  // A connection with keep-alive may not carry new requests after the response to the last one.
  const idle = setInterval(() => {
    server.closeIdleConnections()
  }, 20)
  const late = setTimeout(() => {
    server.closeAllConnections()
  }, STOP_TIME)
  await closed
  clearInterval(idle)
  clearTimeout(late)
}

/** Answers input that is not HTTP with an error of the API. */
function answerInvalidHttp(server: Server, { config, metrics }: System, lines: Lines): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const before = lines.get(socket)?.last
    const refuse = () => {
      const isAnswered = before?.req.complete === false && before.headersSent
      if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) socket.destroy()
      else {
        const [reason, status, detail] = REFUSALS[error.code ?? ''] ?? MALFORMED
        metrics?.count('zoneplane_http_refused_requests_total', { reason })
        socket.end(refusal(status, detail, config))
      }
    }
    // If an earlier request on this connection was complete, its response goes first.
    if (before?.req.complete === true && !before.closed) before.once('close', refuse)
    else refuse()
  })
}

type Refusal = [reason: string, status: string, detail: string]

/** The answers to errors of Node by their code, and to all others. */
const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: ['header_too_large', '431 Request Header Fields Too Large', 'Request header too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['timeout', '408 Request Timeout', 'Request timed out.'],
}
const MALFORMED: Refusal = ['malformed', '400 Bad Request', 'Bad request.']

function refusal(status: string, detail: string, config: Config): string {
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
