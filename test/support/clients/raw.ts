import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What a connection received: the head of the first answer, and everything after it. */
export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  status: number
  /** Names in lower case; values as sent. */
  headers: Record<string, string>
  /** As it was sent. */
  head: string
  body: string
}

export interface RawOptions {
  host?: string
  /** Closes the sending half of the connection once everything is written. */
  end?: boolean
}

/** A connection that stays open. */
export interface Held {
  socket: Socket
  /** What arrived until the connection was closed. */
  answer: Promise<RawAnswer>
}

/** Sends octets as they are, and waits until the service closes the connection. Strings are taken octet by octet. */
export async function exchange(url: string, octets: string | Buffer, options: RawOptions = {}): Promise<RawAnswer> {
  const socket = open(url, options)
  socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets)
  if (options.end === true) socket.end()
  return parseAnswer(await all(socket))
}

/** Sends octets, and leaves the connection open. @param from the client's own address, such as 127.0.0.2 */
export async function hold(url: string, octets: string, from = '127.0.0.1'): Promise<Held> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress: from })
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.write(Buffer.from(octets, 'latin1'))
  return { socket, answer: all(socket).then(parseAnswer) }
}

/** A request with a line and headers as given, that asks for the connection to be closed. */
export function plainRequest(line: string, headers: string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  return [`${line} HTTP/1.1`, 'Host: api.test', 'Connection: close', ...length, ...headers, '', body].join('\r\n')
}

function open(url: string, { host }: RawOptions): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: host ?? hostname, allowHalfOpen: true })
  // The service may close while we still write.
  socket.on('error', () => undefined)
  socket.setTimeout(20_000, () => socket.destroy())
  return socket
}

async function all(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  const lateness = { is: false }
  socket.on('timeout', () => (lateness.is = true))
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('end', () => socket.end())
  // Not `once` of node:events, which would reject on errors: the octets that arrived before count.
  await new Promise((resolve) => socket.once('close', resolve))
  if (lateness.is)
    throw new Error(`the connection stayed open after ${JSON.stringify(Buffer.concat(chunks).toString())}`)
  return Buffer.concat(chunks).toString()
}

function parseAnswer(text: string): RawAnswer {
  const at = text.indexOf('\r\n\r\n')
  const head = at < 0 ? text : text.slice(0, at)
  const [line = '', ...lines] = head.split('\r\n')
  const headers = lines.map((header) => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()] as const
  })
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0),
    headers: Object.fromEntries(headers),
    head,
    body: at < 0 ? '' : text.slice(at + 4),
  }
}
