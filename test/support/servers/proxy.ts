import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from './ports.ts'

/** A request to PowerDNS, whether it was passed on or not. */
export interface Call {
  method: string
  /** Below /api/v1/servers/localhost. */
  path: string
  body: string
  /** The API key with which it was sent: callers may have different ones. */
  key: string
  /** When PowerDNS got it, and when it answered or broke the connection, by performance.now(); absent: not yet. */
  from?: number
  to?: number
  /** PowerDNS' answer, which the caller may not get. */
  status?: number
}

/**
 * What happens to a call:
 * - pass: PowerDNS gets the call, and the caller the answer
 * - refuse: the caller gets this status, and `error` in PowerDNS' format; PowerDNS gets nothing
 * - answer: the caller gets 200 with this JSON; PowerDNS gets nothing
 * - cut: the connection is closed; PowerDNS gets nothing
 * - swallow: PowerDNS applies the call; the connection is closed instead of an answer
 * - hang: nothing happens until the caller gives up
 * - spoil: PowerDNS applies the call; the caller gets this status
 * - late: PowerDNS applies the call after so many milliseconds, even if the caller no longer waits
 * - abandoned: the connection is closed at once; PowerDNS applies the call after so many milliseconds, or after an event
 * - gateway: the caller gets this status at once, with this form of body, as from a gateway; PowerDNS applies the call later,
 *   as if abandoned
 */
export type Fate =
  | 'pass'
  | 'cut'
  | 'swallow'
  | 'hang'
  | { refuse: number; error?: string }
  | { answer: unknown }
  | { spoil: number }
  | { late: number }
  | { abandoned: number | Promise<unknown> }
  | { gateway: number; form?: keyof typeof GATEWAY_BODIES; later: number | Promise<unknown> }

/** What gateways answer with: not the form of PowerDNS' own errors (powerdns.md §2.2). */
export const GATEWAY_BODIES = {
  html: '<html>no answer from upstream</html>',
  text: 'Bad Request',
  json: '{"timestamp":1,"status":500,"error":"Internal Server Error","path":"/"}',
  empty: '',
  /** The connection is closed in the middle of it. */
  cut: '{"error":"no answer"}',
} as const

/** Whether a call is one with this method to a zone itself. */
export const toZone =
  (method: string) =>
  (call: Call, name: string): boolean =>
    call.method === method && call.path === `/zones/${name}.`

export interface Proxy {
  url: string
  /** All calls since the start, or since `calls.length = 0`. */
  calls: Call[]
  /** Decides what happens to each call from now on. */
  fail(fate: (call: Call) => Fate | Promise<Fate>): void
  /** Holds back the next call that matches, until it is released. */
  stop(matches: (call: Call) => boolean): Stopped
  /** Lets everything pass again. */
  heal(): void
  /** How many calls it has not done with: they are held back, late, or being answered. */
  open(): number
  close(): Promise<void>
}

/** Milliseconds in which a call must come that is to be held back: less than AVA waits for a result. */
const PATIENCE = 90_000

/** A call that the proxy holds back. */
export interface Stopped {
  arrived: Promise<Call>
  release: (fate: Fate) => void
}

/** Waits so many milliseconds, or for an event. */
const until = (moment: number | Promise<unknown>) => (typeof moment === 'number' ? sleep(moment) : moment)

const BASE = '/api/v1/servers/localhost'

/**
 * A proxy in front of PowerDNS' API that records and injects faults.
 * @param apiKey with which calls are passed on; without it, with their own
 */
export async function startProxy(target: string, apiKey?: string): Promise<Proxy> {
  const calls: Call[] = []
  const stops: { matches: (call: Call) => boolean; meet: (call: Call) => Promise<Fate> }[] = []
  let decide: (call: Call) => Fate | Promise<Fate> = () => 'pass'
  let open = 0

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const call: Call = {
      method: incoming.method!,
      path: incoming.url!.replace(BASE, ''),
      body: body.toString(),
      key: incoming.headers['x-api-key'] as string,
    }
    calls.push(call)
    const stop = stops.findIndex(({ matches }) => matches(call))
    const fate = await (stop === -1 ? decide(call) : stops.splice(stop, 1)[0]!.meet(call))
    if (fate === 'hang') return
    if (fate === 'cut') {
      outgoing.destroy()
      return
    }
    if (typeof fate === 'object' && 'refuse' in fate) {
      outgoing.writeHead(fate.refuse, { connection: 'close' }).end(JSON.stringify({ error: fate.error ?? 'injected' }))
      return
    }
    if (typeof fate === 'object' && 'answer' in fate) {
      outgoing.writeHead(200, { connection: 'close' }).end(JSON.stringify(fate.answer))
      return
    }
    if (typeof fate === 'object' && 'late' in fate) await sleep(fate.late)
    if (typeof fate === 'object' && 'abandoned' in fate) {
      outgoing.destroy()
      await until(fate.abandoned)
    }
    if (typeof fate === 'object' && 'gateway' in fate) {
      const { gateway, form = 'html' } = fate
      const body = GATEWAY_BODIES[form]
      outgoing.writeHead(gateway, { connection: 'close', 'content-length': body.length })
      if (form === 'cut') outgoing.write(body.slice(0, 9), () => outgoing.destroy())
      else outgoing.end(body)
      await until(fate.later)
    }
    call.from = performance.now()
    const answer = await forward(incoming, body).finally(() => (call.to = performance.now()))
    call.status = answer.status
    if (outgoing.headersSent) return
    if (fate === 'swallow') outgoing.destroy()
    else if (typeof fate === 'object' && 'spoil' in fate) {
      outgoing.writeHead(fate.spoil, { connection: 'close' }).end('{"error": "injected"}')
    } else outgoing.writeHead(answer.status, { ...answer.headers, connection: 'close' }).end(answer.body)
  }

  async function forward(incoming: IncomingMessage, body: Buffer) {
    const headers = { ...incoming.headers }
    delete headers['transfer-encoding']
    if (apiKey !== undefined) headers['x-api-key'] = apiKey
    // PowerDNS may close a connection that is kept just when it is used again.
    const onward = request(target + incoming.url!, {
      agent: false,
      method: incoming.method,
      headers: { ...headers, 'content-length': body.length },
    }).end(body)
    const [answer] = (await once(onward, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    return { status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }
  }

  const server = createServer((incoming, outgoing) => {
    open++
    handle(incoming, outgoing)
      .catch(() => outgoing.destroy())
      .finally(() => open--)
  })
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    calls,
    fail(fate) {
      decide = fate
    },
    stop(matches) {
      let release: Stopped['release'] = () => undefined
      const arrived = new Promise<Call>((arrive, fail) => {
        const timer = setTimeout(() => {
          fail(new Error('the call that was to be held back did not come'))
        }, PATIENCE)
        timer.unref()
        stops.push({
          matches,
          meet: (call) => {
            clearTimeout(timer)
            arrive(call)
            return fate
          },
        })
      })
      // Not every test waits for it.
      arrived.catch(() => undefined)
      const fate = new Promise<Fate>((resolve) => (release = resolve))
      return { arrived, release }
    },
    heal() {
      decide = () => 'pass'
    },
    open: () => open,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
