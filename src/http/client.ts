import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'
import type { AppContext } from './context.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * The client's address: the peer's, or, behind trusted proxies, the right-most forwarded one that is not a trusted
 * proxy's (contract §3.1). IPv4-mapped IPv6 addresses become IPv4.
 */
export function clientAddress(ctx: AppContext): string {
  let address = peerAddress(ctx)
  for (const hop of ctx.get('X-Forwarded-For').split(',').reverse()) {
    const next = isTrusted(ctx, address) ? parse(hop.trim()) : undefined
    if (next === undefined) break
    address = next
  }
  return address?.toString() ?? '0.0.0.0'
}

/** The URL under which the client reaches the service: the configured one, else the request's (contract §1.1). */
export function baseUrl(ctx: AppContext): string {
  const { publicUrl } = ctx.state.system.config
  return publicUrl ?? `${forwarded(ctx, 'Proto') || 'http'}://${requestedHost(ctx)}`
}

/** The URL of the API as the client sees it, without a final slash. */
export function apiUrl(ctx: AppContext): string {
  return `${baseUrl(ctx)}/api/v1`
}

/** `baseUrl`, parsed; `http://localhost` if the request names an invalid host. */
export function parsedUrl(ctx: AppContext): URL {
  const url = baseUrl(ctx)
  return new URL(URL.canParse(url) ? url : 'http://localhost')
}

/** The host that the client requested, perhaps with a port. */
export function requestedHost(ctx: AppContext): string {
  return forwarded(ctx, 'Host') || ctx.get('Host') || localAddress(ctx)
}

/** The last value of an `X-Forwarded-…` header from a trusted proxy; else empty. */
function forwarded(ctx: AppContext, what: 'Proto' | 'Host'): string {
  return isTrusted(ctx, peerAddress(ctx)) ? ctx.get(`X-Forwarded-${what}`).split(',').at(-1)!.trim() : ''
}

/** The address of the connection's server side, for HTTP/1.0 requests without a `Host` header. */
function localAddress({ req: { socket } }: AppContext): string {
  const host = parse(socket.localAddress ?? '')?.toString() ?? 'localhost'
  return `${host.includes(':') ? `[${host}]` : host}:${socket.localPort ?? 80}`
}

function peerAddress(ctx: AppContext): Address | undefined {
  return parse(ctx.req.socket.remoteAddress ?? '')
}

function parse(text: string): Address | undefined {
  const bare = text.replace(/%.*$/, '')
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare)
}

function isTrusted(ctx: AppContext, address: Address | undefined): boolean {
  const { trustedProxies } = ctx.state.system.config
  return trustedProxies.some(([network, bits]) => network.kind() === address?.kind() && address.match(network, bits))
}
