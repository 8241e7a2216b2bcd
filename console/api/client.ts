import type { Client } from 'openapi-fetch'
import type { paths } from '../../build/api-types.d.ts'
import { Shared } from '../shared.ts'
import { sayWhy, why, whyHeader } from '../why.ts'
import { textsIn } from './problems.ts'
import { noteEnd, session } from './session.ts'

/** What the service refused, or why it could not be asked. */
export class Refused extends Error {
  /** The status of the response; 0 without one. */
  readonly status: number
  /** The body of the response: `{detail}`, messages by field, or one object for each item (contract §2.1). */
  readonly body: unknown

  constructor(status: number, body: unknown) {
    super(sentenceOf(status, body))
    this.status = status
    this.body = body
  }
}

/** Why the request that waits longest does, and until when (milliseconds since the epoch); undefined if none waits. */
export const waiting = new Shared<{ reason: string; until: number } | undefined>(undefined)

/** How many requests were refused for want of rights. */
export const denials = new Shared(0)

/** The service's API is beside the console, whatever path a proxy puts before both. */
export const API = new URL('..', document.baseURI).href.replace(/\/$/, '')

/** What a request has besides its path. */
interface Init {
  params?: { path?: Record<string, string>; query?: Record<string, unknown>; header?: Record<string, string> }
  body?: unknown
  headers?: Record<string, string>
  parseAs?: 'text'
  bodySerializer?: (body: unknown) => string
}

/**
 * Requests of the API, by the paths of its document. Pass their results to `ask`. They have the types of openapi-fetch, which is
 * several times as large as what the console uses of it.
 */
export const api = Object.fromEntries(
  ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [
    method,
    (path: string, init: Init = {}) => send(method, path, init),
  ]),
) as unknown as Client<paths>

/** What asks for a reason. */
export const WHY = 'Why? For the history'

async function send(
  method: string,
  template: string,
  { params = {}, body, headers, parseAs, bodySerializer = JSON.stringify }: Init,
): Promise<Outcome<unknown>> {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params.path![name]!))
  const given = Object.entries(params.query ?? {}).filter(([, value]) => value != null)
  const query = new URLSearchParams(given as [string, string][])
  const isWrite = method !== 'GET' && template.startsWith('/api/v1/domains/')
  const makeRequest = () =>
    new Request(`${API}${path}${given.length > 0 ? `?${query}` : ''}`, {
      method,
      body: body === undefined ? null : bodySerializer(body),
      headers: {
        ...(session.value && { Authorization: `Token ${session.value.secret}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(isWrite && whyHeader()),
        ...params.header,
        ...headers,
      },
    })
  const request = makeRequest()
  const lost = (reason: unknown) => {
    throw reason instanceof TypeError ? new Refused(0, { detail: disconnected(method) }) : reason
  }
  let response = await askPatiently(request).catch(lost)
  // The account wants a reason, and this page has no place for it, or it was left empty.
  if (isWrite && why() === '' && response.status === 400 && (await response.clone().text()).includes('"message":')) {
    sayWhy(window.prompt(WHY) ?? '')
    if (why() !== '') response = await askPatiently(makeRequest()).catch(lost)
  }
  if (isWrite && response.ok && params.query?.['dry_run'] !== 'true') sayWhy('')
  // It can be late: it is about the token that was sent.
  if (response.status === 401) noteEnd(request.headers.get('Authorization')?.slice('Token '.length))
  if (response.status === 403) denials.value++
  const text = await response.text().catch(lost)
  const value = parseAs === 'text' && response.ok ? text : parsed(text)
  return response.ok ? { data: value, response } : { error: value, response }
}

/** A text as JSON; if it is none, as it is. */
function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

/** What a request resolves with. */
export interface Outcome<T> {
  data?: T
  error?: unknown
  response: Response
}

/** Returns the body of a successful response. @throws Refused */
export async function ask<T>(request: Promise<Outcome<T>>): Promise<T> {
  return (await askWhole(request)).data
}

/** Returns the body of a successful response, and the response. @throws Refused */
export async function askWhole<T>(request: Promise<Outcome<T>>): Promise<{ data: T; response: Response }> {
  const { data, error, response } = await request
  if (response.ok) return { data: data as T, response }
  throw new Refused(response.status, error)
}

/** Sends a request, and again after `Retry-After`: if it was throttled, or if it reads, and the service cannot read now. */
async function askPatiently(request: Request): Promise<Response> {
  for (;;) {
    const response = await fetch(request.clone())
    const isThrottled = response.status === 429
    if (!isThrottled && !(response.status === 503 && request.method === 'GET')) return response
    const seconds = Number(response.headers.get('Retry-After') ?? 5)
    // A limit per day or of failed log-ins is not waited out, but shown.
    if (seconds > 120) return response
    const reason = isThrottled ? 'Too many requests.' : 'The service cannot answer at the moment.'
    const own = { reason, until: Date.now() + seconds * 1000 }
    if (!(waiting.value && waiting.value.until > own.until)) waiting.value = own
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    if (waiting.value === own) waiting.value = undefined
  }
}

/** What is known when no response came. */
function disconnected(method: string): string {
  const kept = 'What you have staged or typed is kept.'
  if (!navigator.onLine) return `This browser is offline, so nothing was sent. ${kept}`
  const unknown = method === 'GET' ? '' : ' Whether it has done what was sent is not known: look when it answers again.'
  return `There is no connection to the service.${unknown} ${kept}`
}

/** All problems of a response in sentences, for places that show them together. */
function sentenceOf(status: number, body: unknown): string {
  const texts = textsIn(body)
  return texts.length > 0 ? texts.join(' ') : `The service answers ${status}.`
}

/** The messages about one field of a refused request; none if the problem is another one. */
export function problemsOf(refused: unknown, field: string): string[] {
  if (!(refused instanceof Refused) || typeof refused.body !== 'object' || refused.body === null) return []
  return textsIn((refused.body as Record<string, unknown>)[field])
}

/** A page of a list; `next` is the cursor of the following one (contract §4). */
export interface Slice<T> {
  items: T[]
  next: string | undefined
}

/** Returns the page of a list that a request asks for. @throws Refused */
export async function askPage<T>(request: Promise<Outcome<T[]>>): Promise<Slice<T>> {
  const { data, response } = await askWhole(request)
  return { items: data, next: nextCursor(response) }
}

/** Returns all of a list, page by page. @param onPage called with the items so far @throws Refused */
export async function askAll<T>(
  page: (cursor: string) => Promise<Slice<T>>,
  onPage: (items: T[]) => void = () => undefined,
): Promise<T[]> {
  const all: T[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { items, next } = await page(cursor)
    all.push(...items)
    onPage([...all])
    cursor = next
  }
  return all
}

/** The cursor of the next page of a list; undefined after the last one. */
function nextCursor(response: Response): string | undefined {
  const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
  return next === undefined ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined)
}

/** The version that a write has published; undefined if it has published none (contract §15.6). */
export function versionOf(response: Response): number | undefined {
  const version = response.headers.get('Zoneplane-Version')
  return version === null ? undefined : Number(version)
}
