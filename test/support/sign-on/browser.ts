import { request } from 'undici'
import type { Answer, Client } from '../clients/client.ts'

/** A browser without pages: it keeps cookies by origin, and follows redirects of the issuer. */
export class Browser {
  readonly #api: Client
  readonly #publicUrl: string
  readonly #cookies = new Map<string, Map<string, string>>()

  constructor(api: Client, publicUrl: string) {
    this.#api = api
    this.#publicUrl = publicUrl
  }

  /** Begins a sign-in, and goes to the issuer. @returns the callback to which the issuer sends it, as a path */
  async begin(): Promise<string> {
    const { url } = (await this.send('POST', '/auth/oidc/')).json as { url: string }
    return this.followIssuer(url)
  }

  /** Follows the redirects of the issuer until they come back. */
  async followIssuer(url: string): Promise<string> {
    for (let next = url; ;) {
      const { origin } = new URL(next)
      const { headers, statusCode, body } = await request(next, { headers: this.#headers(origin) })
      const text = await body.text()
      this.#keep(origin, headers['set-cookie'])
      if (headers['location'] === undefined) throw new Error(`${next} ${statusCode}: ${text}`)
      next = new URL(String(headers['location']), next).href
      if (next.startsWith(this.#publicUrl)) return next.slice(`${this.#publicUrl}/api/v1`.length)
    }
  }

  /** Signs in: the answer of the callback. */
  async callback(): Promise<Answer> {
    return this.send('GET', await this.begin())
  }

  /** Signs in, and exchanges the code. */
  async signIn(): Promise<Answer> {
    return this.exchange(codeIn(await this.callback()))
  }

  async exchange(code: string): Promise<Answer> {
    return this.send('POST', '/auth/oidc/token/', { code })
  }

  /** Sends a request to the service, with its cookies. */
  async send(method: string, path: string, json?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.#api.send(method, path, json, { headers: { ...this.#headers('service'), ...headers } })
    this.#keep('service', answer.headers['set-cookie'])
    return answer
  }

  /** The cookies of the service. */
  get cookies(): Map<string, string> {
    return this.#cookies.get('service') ?? new Map()
  }

  #headers(origin: string): Record<string, string> {
    const all = [...(this.#cookies.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`)
    return all.length === 0 ? {} : { cookie: all.join('; ') }
  }

  #keep(origin: string, set: string | string[] | undefined): void {
    const kept = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, kept)
    for (const line of [set ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) kept.delete(name)
      else kept.set(name, value)
    }
  }
}

/** The code with which the callback leads to the console. */
export function codeIn({ status, headers, text }: Answer): string {
  const code = /\/console\/signed-in#(.+)$/.exec(String(headers['location']))?.[1]
  if (status !== 303 || code === undefined) throw new Error(`no code: ${status} ${text}`)
  return code
}

/** The sentences of a page for people. */
export function saidTo({ text }: Answer): string {
  const alert = /role="alert">([^]*?)<\/div>/.exec(text)?.[1] ?? ''
  return alert
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
