import { request } from 'undici'
import { checkExchange } from './description.ts'

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The body's JSON; undefined if it is empty or is not JSON. */
  json: unknown
}

export interface Options {
  headers?: Record<string, string>
  /** Sent unchanged, instead of `json`. */
  body?: string | Buffer
}

/**
 * An HTTP client of the API, with or without a token. It compares every answer with the OpenAPI document. Errors name the
 * request.
 */
export class Client {
  readonly url: string
  readonly #authorization: Record<string, string>

  /** @param door where the secret is presented: in the header of the API, or in that of PowerDNS' */
  constructor(url: string, secret?: string, door: 'token' | 'powerdns' = 'token') {
    this.url = url
    const header = door === 'token' ? { authorization: `Token ${secret}` } : { 'x-api-key': secret! }
    this.#authorization = secret === undefined ? {} : header
  }

  /** @param path below /api/v1, or from the root if it begins with `//root` */
  async send(method: string, path: string, json?: unknown, { headers = {}, body }: Options = {}): Promise<Answer> {
    const content = body ?? (json === undefined ? undefined : JSON.stringify(json))
    const type = content === undefined || body !== undefined ? {} : { 'content-type': 'application/json' }
    const target = path.startsWith('//root') ? path.slice(6) : `/api/v1${path}`
    const requestHeaders = { ...type, ...this.#authorization, ...headers }
    const requested = request(this.url + target, { method, headers: requestHeaders, body: content ?? null })
    const received = requested.then(async (answer) => ({ ...answer, text: await answer.body.text() }))
    const answer = await received.catch((error: unknown) => {
      throw Object.assign(error as Error, { message: `${method} ${target}: ${(error as Error).message}` })
    })
    const { statusCode: status, headers: answerHeaders, text } = answer
    const answered = { status, headers: answerHeaders, text }
    await checkExchange(this.url, { method, target, requestHeaders, sent: content, ...answered })
    return { ...answered, json: parse(text) }
  }

  get(path: string, options?: Options): Promise<Answer> {
    return this.send('GET', path, undefined, options)
  }

  post(path: string, json?: unknown, options?: Options): Promise<Answer> {
    return this.send('POST', path, json, options)
  }

  put(path: string, json?: unknown, options?: Options): Promise<Answer> {
    return this.send('PUT', path, json, options)
  }

  patch(path: string, json?: unknown, options?: Options): Promise<Answer> {
    return this.send('PATCH', path, json, options)
  }

  delete(path: string, options?: Options): Promise<Answer> {
    return this.send('DELETE', path, undefined, options)
  }
}

/** The parsed text, or undefined if it is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
