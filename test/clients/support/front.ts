import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Certificate } from './authority.ts'

/**
 * What an operator puts in front of the service: a server that ends TLS and passes requests on. Programs that know but
 * one address find it through a CONNECT proxy, which connects to nothing else.
 */
export interface Front {
  /** `localhost` with the port that TLS is spoken at. */
  host: string
  /** The CONNECT proxy. */
  proxyUrl: string
  /** Method, URL and status of each request so far. */
  requests: string[]
  /** Where clients on this machine seem to come from, by family; the service is told. */
  addresses: Record<'IPv4' | 'IPv6', string>
  close(): Promise<void>
}

/** A front for the service at `url`; `names` are those that the proxy leads to it. */
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
  // Whatever `localhost` means to a program, somebody answers.
  const tls6 = createTlsServer(certificate, pass)
  const tlsPort = await listen(tls, '127.0.0.1')
  await listen(tls6, '::1', tlsPort)
  const proxyPort = await listen(proxy, '127.0.0.1')
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

async function listen(server: Server, host: string, port = 0): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
