import { koaBody, HttpMethodEnum } from 'koa-body'
import { setImmediate as others } from 'node:timers/promises'
import { Invalid } from '../../errors.ts'
import { inSlices } from '../../slices.ts'
import type { Middleware } from '../context.ts'
import { parseJson } from '../json.ts'
import { Refusal } from '../refusal.ts'

export interface BodyOptions {
  required?: boolean
  form?: boolean
  readItem?: (item: unknown) => unknown
}

const { POST, PUT, PATCH } = HttpMethodEnum

/**
 * Reads the body, and leaves it to the handler to ask for its JSON: what is wrong with it is told only after what is
 * wrong with the resource (contract §1.2). koa-body reads octets of any media type; judging them is ours, because size
 * goes before media type, and invalid UTF-8 is an error.
 * @param required whether an empty body is an error; else it counts as `{}`
 * @param form whether what an HTML form sends will do, too
 * @param readItem what each item of a body that is an array is turned into
 */
export function body(
  limit: number,
  { required = false, form = false, readItem = (item: unknown) => item }: BodyOptions = {},
): Middleware {
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
    let failure: Error | undefined
    try {
      await readOctets(ctx, async () => undefined)
    } catch (error) {
      failure = refusal(error)
      // What is left of the body is let go by, so that the connection is fit for the next request.
      ctx.req.unpipe()
      ctx.req.resume()
    }
    let json: unknown
    try {
      if (failure === undefined) json = await parse(ctx.request, mediaType, { required, form, readItem })
    } catch (error) {
      failure = error as Error
    }
    ctx.state.body = () => {
      if (failure !== undefined) throw failure
      return json
    }
    await next()
  }
}

/** The body; a large one is not to be kept beside what it says. */
function takeOctets(request: object): Buffer {
  const holder = request as { body?: Buffer }
  const octets = holder.body ?? Buffer.alloc(0)
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

async function parse(
  request: object,
  mediaType: string,
  { required, form, readItem }: Required<BodyOptions>,
): Promise<unknown> {
  const octets = takeOctets(request)
  if (octets.length === 0) {
    if (required) throw noData()
    return {}
  }
  if (form && isForm(mediaType)) return parseForm(octets.toString('latin1'))
  if (essence(mediaType) !== 'application/json') {
    throw new Refusal(415, `Unsupported media type "${mediaType}" in request.`)
  }
  let json: unknown
  try {
    json = await inSlices(parseJson(await decoded(octets), readItem))
  } catch (error) {
    throw new Refusal(400, `JSON parse error - ${reason(error)}`)
  }
  if (json === null) throw noData()
  return json
}

/** So many octets or more take longer to become text than others should wait on top of what was done before. */
const LARGE = 1024 * 1024

/** @throws TypeError if it is not valid UTF-8 */
async function decoded(octets: Buffer): Promise<string> {
  if (octets.length >= LARGE) await others()
  const text = new TextDecoder('utf-8', { fatal: true }).decode(octets)
  if (octets.length >= LARGE) await others()
  return text
}

function noData(): Invalid {
  return Invalid.object('No data provided')
}

function reason(error: unknown): string {
  return error instanceof SyntaxError ? error.message : 'the text is not valid UTF-8'
}
