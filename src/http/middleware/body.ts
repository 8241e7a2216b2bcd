import { koaBody, HttpMethodEnum } from 'koa-body'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { Invalid } from '../../errors.ts'
import { BODY_RESOURCE, BODY_VALUES } from '../../limits.ts'
import { inSlices, type Work } from '../../slices.ts'
import { guard, type Context, type Middleware } from '../context.ts'
import { Refusal } from '../refusal.ts'

interface BodyOptions {
  /** Refuses an empty body, which otherwise counts as `{}`. */
  required?: boolean
  /** Accepts a submitted HTML form, too. */
  form?: boolean
}

const { POST, PUT, PATCH } = HttpMethodEnum

/**
 * Reads the body. Reports errors in it only when the handler asks for the JSON, because errors of the resource come
 * first (contract §1.2). koa-body reads only octets, because it would accept invalid UTF-8, and check the media type
 * before the size.
 * @param limit octets
 */
export function body(limit: number, options: BodyOptions = {}): Middleware {
  const readOctets = koaBody({
    json: false,
    urlencoded: false,
    textTypes: ['application/octet-stream'],
    textLimit: limit,
    // No encoding: the body is a Buffer.
    encoding: '',
    parsedMethods: [POST, PUT, PATCH],
  })
  return guard(async (ctx) => {
    const mediaType = ctx.get('Content-Type')
    ctx.req.headers['content-type'] = 'application/octet-stream'
    try {
      await readOctets(ctx, async () => undefined)
      const octets = takeOctets(ctx)
      const values = await inSlices(countValues(octets))
      ctx.state.body = () => parse(octets, values, mediaType, options)
      // Parsing a large body takes long, so let other requests run first.
      if (octets.length > BODY_RESOURCE) await nextIteration()
    } catch (error) {
      const failure = refusal(error)
      ctx.state.body = () => {
        throw failure
      }
      // Drop the rest of the body, so that the connection can carry the next request.
      ctx.req.unpipe()
      ctx.req.resume()
    }
  })
}

/** Removes the body from the request, so that its memory can be freed once it is parsed. */
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

/** Whether this is the media type of a submitted HTML form. */
export function isForm(mediaType: string): boolean {
  return essence(mediaType) === 'application/x-www-form-urlencoded'
}

/** The media type without its parameters. */
function essence(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase()
}

/** The members of a submitted HTML form; an input named `a.b` is the member `b` of `a`. */
function parseForm(octets: string): unknown {
  const members = new Map<string, unknown>()
  for (const [name, value] of new URLSearchParams(octets)) {
    const [outer = '', inner] = name.split('.')
    if (inner === undefined) members.set(outer, value)
    else members.set(outer, Object.fromEntries([...Object.entries(members.get(outer) ?? {}), [inner, value]]))
  }
  return Object.fromEntries(members)
}

/** How many octets are searched in one go. */
const CHUNK = 65_536

const [QUOTE, BACKSLASH, COMMA, ARRAY, OBJECT] = Buffer.from('"\\,[{')

/** How many values a JSON text has: each of them, but for the outermost, follows a comma or begins an array or object. */
function* countValues(octets: Buffer): Work<number> {
  let values = 1
  let isInString = false
  for (let i = 0; i < octets.length; i++) {
    if (i % CHUNK === 0) yield
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
