import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that passed through to PowerDNS, or did not. */
export interface Call {
  method: string
  /** Below /api/v1/servers/localhost. */
  path: string
  body: string
}

/**
 * What shall happen to a call:
 * - pass: it reaches PowerDNS, and the answer the caller
 * - refuse: the caller gets this status, and `error` as PowerDNS words it; PowerDNS nothing
 * - cut: the connection is closed; PowerDNS gets nothing
 * - swallow: PowerDNS carries it out; the connection is closed instead of the answer
 * - hang: nothing happens until the caller gives up
 * - late: PowerDNS carries it out after so many milliseconds, whether the caller still waits or not
 */
export type Fate = 'pass' | 'cut' | 'swallow' | 'hang' | { refuse: number; error?: string } | { late: number }

export interface Proxy {
  url: string
  /** All calls since the start, or since `calls.length = 0`. */
  calls: Call[]
  /** Decides what happens to each call from now on. */
  fail(fate: (call: Call) => Fate): void
  /** Lets everything pass again. */
  heal(): void
  close(): Promise<void>
}

const BASE = '/api/v1/servers/localhost'

/** A proxy in front of PowerDNS' API that records and injects faults. */
export async function startProxy(target: string): Promise<Proxy> {
  const calls: Call[] = []
  let decide: (call: Call) => Fate = () => 'pass'

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const call = { method: incoming.method!, path: incoming.url!.replace(BASE, ''), body: body.toString() }
    calls.push(call)
    const fate = decide(call)
    if (fate === 'hang') return
    if (fate === 'cut') {
      outgoing.destroy()
      return
    }
    if (typeof fate === 'object' && 'refuse' in fate) {
      outgoing.writeHead(fate.refuse, { connection: 'close' }).end(JSON.stringify({ error: fate.error ?? 'injected' }))
      return
    }
    if (typeof fate === 'object') await new Promise((resolve) => setTimeout(resolve, fate.late))
    const answer = await forward(incoming, body)
    if (fate === 'swallow') outgoing.destroy()
    else outgoing.writeHead(answer.status, { ...answer.headers, connection: 'close' }).end(answer.body)
  }

  async function forward(incoming: IncomingMessage, body: Buffer) {
    const headers = { ...incoming.headers }
    delete headers['transfer-encoding']
    const onward = request(target + incoming.url!, {
      method: incoming.method,
      headers: { ...headers, 'content-length': body.length },
    }).end(body)
    const [answer] = (await once(onward, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    return { status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    fail(fate) {
      decide = fate
    },
    heal() {
      decide = () => 'pass'
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
