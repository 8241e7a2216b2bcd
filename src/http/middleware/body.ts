import { HttpMethodEnum, koaBody } from 'koa-body'
import { finished } from 'node:stream'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { Invalid, Throttled } from '../../errors.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import { BODY_DEPTH, BODY_RESOURCE, BODY_TIME, BODY_TIME_LARGE, BODY_VALUES, FORM_INPUTS } from '../../limits.ts'
import { type Context, type Middleware, withEffect } from '../kit/context.ts'
import type { Effect } from '../kit/effect.ts'
import { Refusal } from '../kit/refusal.ts'
import { Gathered, Places } from './gathered.ts'

interface BodyOptions {
  /** True to reject an empty body, which otherwise counts as `{}`. */
  required?: boolean
  /** True to also accept a submitted HTML form. */
  form?: boolean
  /** The media type of text that is accepted instead of JSON; the handler gets it as a string. */
  text?: string
  /** True to read JSON whatever the media type says: clients of PowerDNS send none, or others. */
  untyped?: boolean
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
  return withEffect(effectOf(limit, options), async function body(ctx, next) {
    const places = new Places(ctx)
    try {
      await read(ctx, places)
      await next()
    } finally {
      // A request whose client is gone may still be at work, with its body.
      finished(ctx.res, () => {
        places.release()
      })
    }
  })

  async function read(ctx: Context, places: Places): Promise<void> {
    const mediaType = ctx.get('Content-Type')
    ctx.req.headers['content-type'] = 'application/octet-stream'
    const pieces = new Gathered(places, ctx.req)
    const timer = setTimeout(pieces.giveUp, limit > BODY_RESOURCE ? BODY_TIME_LARGE : BODY_TIME)
    try {
      pieces.start()
      // koa-body reads `req` of its context, and leaves the octets in `request`.
      await readOctets(Object.create(ctx, { req: { value: pieces } }) as Context, async () => undefined)
      const octets = takeOctets(ctx)
      const size = await inSlices(measure(octets))
      ctx.state.body = () => parse(octets, size, mediaType, options)
      // Parsing a large body takes long, so let other requests run first.
      if (octets.length > BODY_RESOURCE) await nextIteration()
    } catch (error) {
      if (error instanceof Throttled) throw error
      const failure = refusal(error)
      if (failure.status === 408) ctx.set('Connection', 'close')
      ctx.state.body = () => {
        throw failure
      }
    } finally {
      clearTimeout(timer)
      pieces.dropRest()
    }
  }
}

function effectOf(limit: number, { required = false }: BodyOptions): Effect {
  return {
    errors: {
      400: [...(required ? ['No data provided'] : []), 'JSON parse error - …'],
      408: [],
      413: [`The limit is ${limit} octets.`],
      415: [],
      429: [],
      503: [],
    },
  }
}

/** Removes the body from the request, so that its memory can be freed once it is parsed. */
function takeOctets({ request }: Context): Buffer {
  const holder: { body?: unknown } = request
  const octets = (holder.body ?? Buffer.alloc(0)) as Buffer
  delete holder.body
  return octets
}

function refusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { status, message } = error as { status?: number; message: string }
  if (status === 413) return new Refusal(413, 'Payload too large.')
  return new Refusal(400, `JSON parse error - the body cannot be read: ${message}`)
}

/** Reports whether this is the media type of a submitted HTML form. */
export function isForm(mediaType: string): boolean {
  return essence(mediaType) === 'application/x-www-form-urlencoded'
}

/** Returns the media type without its parameters. */
function essence(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase()
}

/** Parses a submitted HTML form; of inputs with the same name, the last one counts. */
function parseForm(octets: string): unknown {
  const inputs = [...new URLSearchParams(octets)]
  if (inputs.length > FORM_INPUTS) throw new Refusal(400, `There are more than ${FORM_INPUTS} inputs.`)
  return Object.fromEntries(inputs)
}

/** The number of octets that are searched in one go. */
const CHUNK = 65_536

const [QUOTE, BACKSLASH, COMMA, ARRAY, OBJECT, ARRAY_END, OBJECT_END] = Buffer.from('"\\,[{]}')

/** The cost of a JSON text for its reader. */
interface Size {
  /** The number of values: each, except the outermost, follows a comma or begins an array or object. */
  values: number
  /** The depth to which arrays and objects are nested. */
  depth: number
}

function* measure(octets: Buffer): Work<Size> {
  let values = 1
  let open = 0
  let depth = 0
  let isInString = false
  for (let i = 0; i < octets.length; i++) {
    if (i % CHUNK === 0) yield
    const octet = octets[i]
    if (octet === QUOTE) isInString = !isInString
    else if (isInString) i += octet === BACKSLASH ? 1 : 0
    else if (octet === COMMA) values++
    else if (octet === ARRAY || octet === OBJECT) {
      values++
      depth = Math.max(depth, ++open)
    } else if (octet === ARRAY_END || octet === OBJECT_END) open--
  }
  return { values, depth }
}

function parse(
  octets: Buffer,
  { values, depth }: Size,
  mediaType: string,
  { required, form, text, untyped }: BodyOptions,
): unknown {
  if (octets.length === 0) {
    if (required === true) throw noData()
    return {}
  }
  if (form === true && isForm(mediaType)) return parseForm(octets.toString('latin1'))
  if (untyped !== true && essence(mediaType) !== (text ?? 'application/json')) {
    throw new Refusal(415, `Unsupported media type "${mediaType}" in request.`)
  }
  if (text !== undefined) return parseText(octets)
  if (values > BODY_VALUES) throw new Refusal(400, `JSON parse error - there are more than ${BODY_VALUES} values`)
  if (depth > BODY_DEPTH)
    throw new Refusal(400, `JSON parse error - values are nested deeper than ${BODY_DEPTH} levels`)
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

function parseText(octets: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets)
  } catch {
    throw new Refusal(400, 'The text is not valid UTF-8.')
  }
}

function noData(): Invalid {
  return Invalid.object('No data provided')
}
