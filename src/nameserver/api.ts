import { Pool } from 'undici'
import { NameserverFailure } from '../errors.ts'

export interface ApiOptions {
  /** Base URL, e.g. `http://127.0.0.1:8081`. */
  url: string
  key: string
  /** How many requests are under way at once; the others wait. */
  connections: number
}

/** The most octets that PowerDNS takes: `webserver-max-bodysize` in pdns/pdns.conf. */
const MAX_BODY = 64 * 1024 * 1024

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * PowerDNS' HTTP API as calls that either succeed or say what is known then (FailureKind). Its web server closes every
 * connection after one answer and stalls when more than a few wait (powerdns.md §1.2), hence one small pool.
 */
export class Api {
  readonly #pool: Pool
  readonly #key: string
  readonly #path: string

  constructor(options: ApiOptions) {
    const url = new URL(options.url)
    this.#pool = new Pool(url.origin, { connections: options.connections, pipelining: 1 })
    this.#key = options.key
    this.#path = `${url.pathname.replace(/\/+$/, '')}/api/v1/servers/localhost`
  }

  /**
   * @param limit milliseconds for everything: waiting for a connection, sending, the answer
   * @param body JSON
   * @returns the answer's JSON; undefined where it is empty
   * @throws NameserverFailure
   */
  async call(method: Method, path: string, limit: number, body?: string): Promise<unknown> {
    const { status, text } = await this.#exchange(method, path, limit, body)
    if (status >= 200 && status < 300) return text === '' ? undefined : parse(text)
    const message = reason(status, text)
    throw new NameserverFailure(kindOf(status), message, { rrset: named(message) })
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #exchange(
    method: Method,
    path: string,
    limit: number,
    body: string | undefined,
  ): Promise<{ status: number; text: string }> {
    if (body !== undefined && Buffer.byteLength(body) > MAX_BODY) {
      throw new NameserverFailure('refused', `it is more than PowerDNS takes in one request (${MAX_BODY} octets)`)
    }
    try {
      const answer = await this.#pool.request({
        method,
        path: this.#path + path,
        headers: { 'x-api-key': this.#key, ...(body !== undefined && CONTENT) },
        body: body ?? null,
        signal: AbortSignal.timeout(limit),
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      return { status: answer.statusCode, text: await answer.body.text() }
    } catch (error) {
      const kind = neverSent(error) ? 'unreachable' : 'unknown'
      throw new NameserverFailure(kind, `PowerDNS: ${(error as Error).message}`, { cause: error })
    }
  }
}

const CONTENT = { 'content-type': 'application/json' }

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new NameserverFailure('failed', 'PowerDNS answered with something else than JSON', { cause: error })
  }
}

function kindOf(status: number): NameserverFailure['kind'] {
  if (status === 404) return 'absent'
  if (status === 409) return 'conflict'
  if (status === 422) return 'refused'
  return 'failed'
}

/** Errors of a connection that was never made. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT',
]) // prettier-ignore

function neverSent(error: unknown): boolean {
  return NOT_CONNECTED.has((error as { code?: string }).code ?? '')
}

/** The RRset that a refusal speaks of, in any of PowerDNS' wordings (powerdns.md §2.2). */
function named(message: string): { name: string; type: string } | undefined {
  const [, name, type] = /(?:Record|RRset) (\S+?)(?:\/| IN )([A-Z0-9]+)/.exec(message) ?? []
  return name === undefined || type === undefined ? undefined : { name, type }
}

function reason(status: number, text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: string }
    if (typeof error === 'string') return error
  } catch {
    // Some answers are plain text; it may hold anything, so only the status is passed on.
  }
  return `PowerDNS answered ${status}`
}
