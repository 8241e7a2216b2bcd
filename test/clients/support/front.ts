import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { listen } from '../../support/servers/ports.ts'
import type { Certificate } from './authority.ts'

/**
 * The TLS-terminating reverse proxy that an operator puts in front of the service. Programs with a built-in host name
 * reach it through a CONNECT proxy, which connects to nothing else.
 */
export interface Front {
  /** `localhost` with the TLS port. */
  host: string
  /** The URL of the CONNECT proxy. */
  proxyUrl: string
  /** Method, URL and status of each request so far. */
  requests: string[]
  /** The client addresses that the service gets in X-Forwarded-For, by family. */
  addresses: Record<'IPv4' | 'IPv6', string>
  close(): Promise<void>
}

/** Starts a front for the service at `url`; the CONNECT proxy accepts `names`. */
export async function startFront(url: string, names: string[], certificate: Certificate): Promise<Front> {
  const requests: string[] = []
  const addresses = { IPv4: '192.0.2.7', IPv6: '2001:db8::7' }
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': addresses[familyOf(incoming.socket)] }
    const headers = { ...incoming.headers, ...forwarded }
    const onward = request(url + incoming.url!, { method: incoming.method!, headers, agent: false }, (answer) => {
      requests.push(`${incoming.method!} https://${incoming.headers.host!}${incoming.url!} ${answer.statusCode!}`)
      outgoing.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  }
  const tls = createTlsServer(certificate, pass)
  const proxy = createServer((_request, response) => {
    response.writeHead(405).end()
  }).on('connect', ({ url: target = '' }: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    if (!names.some((name) => target === `${name}:443`)) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    tls.emit('connection', socket)
  })
  // Programs may resolve `localhost` to either family.
  const tls6 = createTlsServer(certificate, pass)
  const tlsPort = await listen(tls)
  await listen(tls6, tlsPort, '::1')
  const proxyPort = await listen(proxy)
  const servers = [tls, tls6, proxy]
  return {
    host: `localhost:${tlsPort}`,
    proxyUrl: `http://127.0.0.1:${proxyPort}`,
    requests,
    addresses,
    async close() {
      for (const server of servers) server.closeAllConnections()
      await Promise.all(servers.map((server) => once(server.close(), 'close')))
    },
  }
}

function familyOf({ remoteAddress = '' }: Socket): 'IPv4' | 'IPv6' {
  return remoteAddress.includes('.') ? 'IPv4' : 'IPv6'
}
