import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listen } from '../servers/ports.ts'

/** What a receiver has got. */
export interface Received {
  id: string
  headers: IncomingHttpHeaders
  body: string
  /** The parsed body. */
  type: string
  data: { id: string; domain: string | null; count: number | null } | null
}

/** A receiver of webhooks on this machine. */
export interface Receiver {
  url: string
  received: Received[]
  /** How it answers what comes next; at first, 204. */
  answer: (response: ServerResponse, received: Received) => void
  close(): Promise<void>
}

/** Starts a receiver. */
export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const received = { ...(JSON.parse(body) as Pick<Received, 'type' | 'data'>), body }
      const all = { ...received, id: String(request.headers['webhook-id']), headers: request.headers }
      receiver.received.push(all)
      receiver.answer(response, all)
    })
  })
  const receiver: Receiver = {
    url: `http://${host}:${await listen(server, 0, host)}/hook`,
    received: [],
    answer: (response) => response.writeHead(204).end(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
