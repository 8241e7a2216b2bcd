import { koaBody, HttpMethodEnum } from 'koa-body'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { Invalid } from '../../errors.ts'
import { BODY_RESOURCE, BODY_VALUES } from '../../limits.ts'
import type { Context, Middleware } from '../context.ts'
import { Refusal } from '../refusal.ts'

export interface BodyOptions {
  /** Whether an empty body is an error; else it counts as `{}`. */
  required?: boolean
  /** Whether the body may also be what an HTML form sends. */
  form?: boolean
}

const { POST, PUT, PATCH } = HttpMethodEnum

/**
 * Reads the body, and leaves it to the handler to ask for its JSON: what is wrong with it is told only after what is
 * wrong with the resource (contract §1.2). koa-body reads octets of any media type; judging them is ours, because size
 * goes before media type, and invalid UTF-8 is an error.
 * @param limit octets
 */
export function body(limit: number, options: BodyOptions = {}): Middleware {
  const readOctets = koaBody({
    json: false,
    urlencoded: false,
    textTypes: ['application/octet-stream'],
    textLimit: limit,
    // None, that is, octets.
    encoding: '',
    parsedMethods: [POST, PUT, PATCH],
  })
  return async function body(ctx, next) {
    const mediaType = ctx.get('Content-Type')
    ctx.req.headers['content-type'] = 'application/octet-stream'
    try {
      await readOctets(ctx, async () => undefined)
      const octets = takeOctets(ctx)
      const values = countValues(octets)
      ctx.state.body = () => parse(octets, values, mediaType, options)
      // Parsing a large body takes long enough, without what was done to receive it.
      if (octets.length > BODY_RESOURCE) await nextIteration()
    } catch (error) {
      const failure = refusal(error)
      ctx.state.body = () => {
        throw failure
      }
      // The rest of the body is read and dropped, so that the connection is fit for the next request.
      ctx.req.unpipe()
      ctx.req.resume()
    }
    await next()
  }
}

/** The body's octets, which nothing else holds from now on. */
function takeOctets({ request }: Context): Buffer {
  const holder: { body?: unknown } = request
  const octets = (holder.body ?? Buffer.alloc(0)) as Buffer
  delete holder.body
  return octets
}

function refusal(error: unknown): Refusal {
  const { status, message } = error as { status?: number; message: string }
  if (status === 413) return new Refusal(413, 'Payload too large.')
  if (status === 415) return new Refusal(415, 'Unsupported content encoding in request.')
  return new Refusal(400, `JSON parse error - the body cannot be read: ${message}`)
}

/** Whether it is the media type of an HTML form. */
export function isForm(mediaType: string): boolean {
  return essence(mediaType) === 'application/x-www-form-urlencoded'
}

/** A media type without its parameters. */
function essence(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase()
}

/** What an HTML form sends; an input named `a.b` is the member `b` of `a`. */
function parseForm(octets: string): unknown {
  const members = new Map<string, unknown>()
  for (const [name, value] of new URLSearchParams(octets)) {
    const [outer = '', inner] = name.split('.')
    if (inner === undefined) members.set(outer, value)
    else members.set(outer, Object.fromEntries([...Object.entries(members.get(outer) ?? {}), [inner, value]]))
  }
  return Object.fromEntries(members)
}

const [QUOTE, BACKSLASH, COMMA, ARRAY, OBJECT] = Buffer.from('"\\,[{')

/** How many values a JSON text has: each of them, but for the outermost, follows a comma or begins an array or object. */
function countValues(octets: Buffer): number {
  let values = 1
  let isInString = false
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i]
    if (octet === QUOTE) isInString = !isInString
    else if (isInString) i += octet === BACKSLASH ? 1 : 0
    else if (octet === COMMA || octet === ARRAY || octet === OBJECT) values++
  }
  return values
}

function parse(
  octets: Buffer,
  values: number,
  mediaType: string,
  { required = false, form = false }: BodyOptions,
): unknown {
  if (octets.length === 0) {
    if (required) throw noData()
    return {}
  }
  if (form && isForm(mediaType)) return parseForm(octets.toString('latin1'))
  if (essence(mediaType) !== 'application/json') {
    throw new Refusal(415, `Unsupported media type "${mediaType}" in request.`)
  }
  if (values > BODY_VALUES) throw new Refusal(400, `JSON parse error - there are more than ${BODY_VALUES} values`)
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(octets))
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'the text is not valid UTF-8'
    throw new Refusal(400, `JSON parse error - ${reason}`)
  }
  if (json === null) throw noData()
  return json
}

function noData(): Invalid {
  return Invalid.object('No data provided')
}
