import type Koa from 'koa'
import { NotFound } from '../../errors.ts'
import { NAME_LENGTH } from '../../limits.ts'
import { requestedHost } from '../kit/caller.ts'
import type { AppContext } from '../kit/context.ts'
import { Refusal } from '../kit/refusal.ts'

export const UPDATE_PATH = '/update'
export const CHECK_IP_PATH = '/nic/checkip.html'

/** The host of a URI, and perhaps a port (RFC 3986 §§3.2.2 and 3.2.3). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i

/** Characters of a host: a name with its final dot, and a port. Some functions fail for much longer ones. */
const HOST_LENGTH = NAME_LENGTH + '.:65535'.length

/** Requires a valid host, and one `Host` header, which HTTP/1.0 alone may leave out (RFC 9112 §3.2). */
export async function refuseInvalidHost(ctx: AppContext, next: Koa.Next): Promise<void> {
  const host = requestedHost(ctx)
  const isValid = host.length <= HOST_LENGTH && HOST.test(host) && URL.canParse(`http://${host}`)
  const count = ctx.req.headersDistinct['host']?.length ?? 0
  if (!isValid || count > 1 || (count === 0 && ctx.req.httpVersion !== '1.0')) {
    ctx.set('Connection', 'close')
    throw new Refusal(400, 'Bad request.')
  }
  await next()
}

/** Maps every path on a host name that serves only dynDNS updates or only address checks (contract §10.1). */
export async function hostNames(ctx: AppContext, next: Koa.Next): Promise<void> {
  const { updateHosts, checkIpHosts } = ctx.state.system.config
  const host = requestedHost(ctx)
    .replace(/\.?(:\d*)?$/, '')
    .toLowerCase()
  if (updateHosts.includes(host)) {
    ctx.state.dyndns = true
    // Browsers request icons unasked; this must not be an update.
    if (/\.(ico|png)$/.test(pathOf(ctx))) throw new NotFound()
    ctx.path = UPDATE_PATH
  } else if (checkIpHosts.includes(host)) {
    ctx.state.dyndns = true
    pathOf(ctx)
    ctx.path = CHECK_IP_PATH
  }
  await next()
}

/**
 * Decodes and re-encodes each segment of the path, so that all spellings of a path reach the same resource (contract
 * §1.1), and makes several final slashes one. A segment with invalid UTF-8 or an encoded slash is 404; so is a path of
 * slashes alone, but for `/`.
 */
export async function paths(ctx: Koa.Context, next: Koa.Next): Promise<void> {
  const path = pathOf(ctx)
  // Looking back keeps this from being quadratic.
  const short = path.replace(/(?<!\/)\/{2,}$/, '/')
  if (short === '/' && path !== '/') throw new NotFound()
  ctx.path = short.split('/').map(normalise).join('/')
  await next()
}

/** Reads the path of the request's target. @throws NotFound if it has none, or cannot be parsed, such as `http://[` */
function pathOf(ctx: Koa.Context): string {
  try {
    // Koa finds no path in `//=?a=\@#`.
    if ((ctx.path as string | null) !== null) return ctx.path
  } catch {
    // Koa throws several errors.
  }
  throw new NotFound()
}

function normalise(segment: string): string {
  try {
    const text = decodeURIComponent(segment)
    if (!text.includes('/')) return encodeURIComponent(text)
  } catch {
    // The segment is not valid UTF-8.
  }
  throw new NotFound()
}
