import { Readable } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import type { Name } from '../../dns/names.ts'
import { type FailureKind, NameserverFailure, reasonOf, Unavailable } from '../../errors.ts'
import { onDemand } from '../../flow/on-demand.ts'
import { answerTime } from '../../limits.ts'
import type { Lease, Nameserver } from '../nameserver.ts'

export interface ApiOptions {
  /** Base URL, e.g. `http://127.0.0.1:8081`. */
  url: string
  key: string
  /** The maximum number of concurrent requests; others wait. */
  connections: number
  /** The observer of each call. */
  observer?: Observer | undefined
}

/** The recipient of measurements. Starts are by performance.now(). */
export interface Observer {
  /** @param call method and path, without names and numbers: `PATCH /zones/:id` */
  ended(call: string, outcome: 'done' | 'lease_lost' | FailureKind, start: number): void
  /** Reports that the call with this start has got a connection. */
  waited(start: number): void
}

const undici = onDemand((require) => require('undici') as typeof import('undici'))

/** The maximum request body in octets: `webserver-max-bodysize` in pdns/pdns.conf. */
const MAX_BODY = 64 * 1024 * 1024

/**
 * The timeout in milliseconds of a request that reads a zone, or the serials of all: PowerDNS answers 100,000 RRsets, or
 * zones, within seconds. A longer one would let a network that swallows a request lock the zone for as long.
 */
export const READING_TIME = 60_000

/**
 * PowerDNS' HTTP API. A call that fails reports what is known afterwards (FailureKind). PowerDNS' web server closes
 * every connection after one answer and stalls if more than a few wait (powerdns.md §1.2), hence one small pool.
 */
export class Api {
  readonly #options: ApiOptions
  /** Opened by the first call. */
  #pool: Pool | undefined
  #requests: Dispatcher | undefined
  readonly #path: string

  constructor(options: ApiOptions) {
    this.#options = options
    this.#path = `${new URL(options.url).pathname.replace(/\/+$/, '')}/api/v1/servers/localhost`
  }

  /**
   * @param limit milliseconds in total: waiting for a connection, sending, receiving
   * @param body JSON
   * @param lease confirmed when a connection is open, just before anything is sent
   * @returns the answer's parsed JSON; undefined if the answer is empty
   * @throws NameserverFailure; the lease's error if it has ended
   */
  async call(
    method: Dispatcher.HttpMethod,
    path: string,
    limit: number,
    body?: string,
    lease?: Lease,
  ): Promise<unknown> {
    return this.#observed(method, path, async () => {
      if (body !== undefined && Buffer.byteLength(body) > MAX_BODY) {
        throw new NameserverFailure('refused', `it is more than PowerDNS takes in one request (${MAX_BODY} octets)`)
      }
      const request = {
        method,
        path: this.#path + path,
        headers: {
          'x-api-key': this.#options.key,
          // Without it, PowerDNS words some errors as plain text.
          accept: 'application/json',
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
        },
        signal: AbortSignal.timeout(limit),
        headersTimeout: 0,
        bodyTimeout: 0,
      }
      const { status, text } = await this.#request(request, body ?? null, lease)
      if (SUCCESS.has(status)) return text === '' ? undefined : parse(text)
      const reason = FAILURE.has(status) ? reasonIn(text) : undefined
      if (reason === undefined) throw new NameserverFailure('unknown', strangeAnswer(status))
      const message = status === 401 ? 'PowerDNS refuses the API key (PDNS_API_KEY)' : reason
      throw new NameserverFailure(kindOf(status), message, { rrset: refusedRRset(message) })
    })
  }

  /** Does a call, and reports its outcome to the observer. */
  async #observed<T>(method: string, path: string, work: () => Promise<T>): Promise<T> {
    const { observer } = this.#options
    if (observer === undefined) return work()
    const [call, start] = [`${method} ${templateOf(path)}`, performance.now()]
    try {
      const answer = await work()
      observer.ended(call, 'done', start)
      return answer
    } catch (error) {
      observer.ended(call, error instanceof NameserverFailure ? error.kind : 'lease_lost', start)
      throw error
    }
  }

  /** The numbers of open requests, and of requests that wait for a connection. */
  get load(): Nameserver['load'] {
    const { running, size } = this.#pool?.stats ?? { running: 0, size: 0 }
    return { open: running, waiting: size - running }
  }

  /** Breaks off all open calls; later ones open it again. */
  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = this.#requests = undefined
    await pool?.destroy()
  }

  #open(): Dispatcher {
    const { url, connections, observer } = this.#options
    this.#pool = new (undici().Pool)(new URL(url).origin, { connections, pipelining: 1 })
    return this.#pool.compose(atStart(observer))
  }

  async #request(options: Request, text: string | null, lease?: Lease): Promise<{ status: number; text: string }> {
    try {
      const body = lease === undefined ? text : Readable.from(underLease(lease, text))
      this.#requests ??= this.#open()
      const answer = await unlessAborted(options.signal, this.#requests.request({ ...options, body }))
      return { status: answer.statusCode, text: await answer.body.text() }
    } catch (error) {
      if (error instanceof Unavailable) throw error
      const kind = NOT_CONNECTED.has((error as { code?: string }).code ?? '') ? 'unreachable' : 'unknown'
      throw new NameserverFailure(kind, `PowerDNS: ${reasonOf(error)}`, { cause: error })
    }
  }
}

/** Returns the path of a zone: PowerDNS' id for it. Our zone names contain neither `/` nor `=`. */
export function zonePath(zone: Name): string {
  return `/zones/${zone.replaceAll('_', '=5F')}`
}

/** The fields of a zone in PowerDNS' API that the service reads. */
export interface ZoneAnswer {
  kind: string
  account: string
  serial: number
  dnssec: boolean
  nsec3param: string
  nsec3narrow: boolean
  soa_edit: string
  soa_edit_api: string
  api_rectify: boolean
  master_tsig_key_ids?: string[]
  rrsets: {
    name: Name
    type: string
    ttl: number
    records: { content: string; disabled: boolean }[]
    comments: unknown[]
  }[]
}

/** Reads a zone with its RRsets. @throws NameserverFailure, also of kind "absent" */
export async function getZone(api: Api, zone: Name): Promise<ZoneAnswer> {
  return (await api.call('GET', zonePath(zone), READING_TIME)) as ZoneAnswer
}

/**
 * Flushes the zone's names from the caches. Otherwise PowerDNS still rejects queries for names that were asked before the
 * zone existed, until the packet cache expires (powerdns.md §1.4).
 */
export async function flush(api: Api, zone: Name): Promise<void> {
  await api.call('PUT', `/cache/flush?domain=${encodeURIComponent(zone)}`, answerTime(0))
}

/** Returns the answer; undefined if its object is absent. */
export async function ifPresent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NameserverFailure && error.kind === 'absent') return undefined
    throw error
  }
}

/** Returns the path of a call without names of zones, keys and settings; of the query, only that it names a zone. */
function templateOf(path: string): string {
  return path
    .replace(/\?zone=.*$/, '?zone=:id')
    .replace(/\?(?!zone=).*$/, '')
    .replace(/(?<=\/(?:zones|cryptokeys|tsigkeys|metadata|config)\/)[^/]+/g, ':id')
}

/** A request without its body. */
type Request = Omit<Dispatcher.RequestOptions, 'body' | 'signal'> & { signal: AbortSignal }

/**
 * Waits for a request until its signal is aborted. undici itself looks at the signal only when the request has a connection;
 * if it is aborted by then, undici sends nothing.
 */
function unlessAborted<T>(signal: AbortSignal, request: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', stop, { once: true })
    request.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', stop)
    })
  })
}

/** Reports when a request has got its connection: undici begins it just before it sends. */
function atStart(observer: Observer | undefined): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const start = performance.now()
    return dispatch(options, {
      onRequestStart(controller, context) {
        observer?.waited(start)
        handler.onRequestStart?.(controller, context)
      },
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    })
  }
}

/** Yields the body of a request under a lease. undici asks for it when a connection is open, before it sends data. */
async function* underLease(lease: Lease, body: string | null): AsyncGenerator<string> {
  await lease.confirm()
  if (body !== null) yield body
}

/** Errors before a connection exists: nothing was sent. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT',
]) // prettier-ignore

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new NameserverFailure('unknown', 'PowerDNS, or a gateway, answered with something else than JSON', {
      cause: error,
    })
  }
}

/** The statuses that PowerDNS gives (powerdns.md §2.2). Others are of a gateway, which may pass the request on later. */
const SUCCESS = new Set([200, 201, 204])
const FAILURE = new Set([400, 401, 403, 404, 405, 409, 422, 500])

/** The only members of PowerDNS' errors. Others have a text in `error`, too, but more beside it. */
const ERROR_MEMBERS = new Set(['error', 'errors'])

function kindOf(status: number): FailureKind {
  if (status === 404) return 'absent'
  if (status === 409) return 'conflict'
  return status === 422 ? 'refused' : 'failed'
}

/** Returns the reason in an error that has the form of PowerDNS' own (powerdns.md §2.2); undefined: it is not one. */
function reasonIn(text: string): string | undefined {
  try {
    const answer = JSON.parse(text) as { error?: unknown } | null
    const isOwn = typeof answer?.error === 'string' && Object.keys(answer).every((member) => ERROR_MEMBERS.has(member))
    return isOwn ? (answer.error as string) : undefined
  } catch {
    return undefined
  }
}

/** The text may contain anything, so only the status is reported. */
function strangeAnswer(status: number): string {
  const hint = status === 400 ? ', or PowerDNS because of webserver-max-bodysize,' : ''
  return `not PowerDNS, but something before it${hint} answered ${status}`
}

/** Finds the RRset that an error message names, in any of PowerDNS' wordings (powerdns.md §2.2). */
function refusedRRset(message: string): { name: string; type: string } | undefined {
  const [, name, type] = /(?:Record|RRset) (\S+?)(?:\/| IN )([A-Z0-9]+)/.exec(message) ?? []
  return name === undefined || type === undefined ? undefined : { name, type }
}
