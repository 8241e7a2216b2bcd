import type { Socket } from 'node:net'
import type { Actor } from '../../service/actor.ts'
import { type Address, isTrusted, parseAddress as parse, shownAddress } from '../../service/throttling/callers.ts'
import type { Config } from '../../settings/config.ts'
import type { AppContext, State } from './context.ts'

/** The address of the other end of each connection. A socket no longer has it once the client is gone. */
const peers = new WeakMap<Socket, Address>()

/** Stores the address of a new connection, or closes it: the service does not serve requests from unknown addresses. */
export function rememberPeer(socket: Socket): void {
  const address = parse(socket.remoteAddress ?? '')
  if (address === undefined) socket.destroy()
  else peers.set(socket, address)
}

/**
 * Returns the client's address: the peer's, or, behind trusted proxies, the right-most forwarded one that is not a
 * trusted proxy's (contract §3.1). IPv4-mapped IPv6 addresses become IPv4.
 */
export function clientAddress(ctx: AppContext): string {
  let address = peerAddress(ctx)
  for (const hop of ctx.get('X-Forwarded-For').split(',').reverse()) {
    const next = isTrusted(ctx.state.system.config, address) ? parse(hop.trim()) : undefined
    if (next === undefined) break
    address = next
  }
  return address.toString()
}

/** Returns the client's address as the log shows it: in full, its IPv4 /24 or IPv6 /48 network, or null. */
export function loggedAddress(ctx: AppContext): string | null {
  return shownAddress(ctx.state.system.config, clientAddress(ctx))
}

/** Returns the actor that an earlier guard authenticated, otherwise the client's address. */
export function callerOf(ctx: AppContext): Actor | string {
  return (ctx.state as Partial<State>).actor ?? clientAddress(ctx)
}

/** Returns the URL under which the client reaches the service: configured, otherwise the request's (contract §1.1). */
export function baseUrl(ctx: AppContext): string {
  const { publicUrl } = ctx.state.system.config
  const scheme = forwarded(ctx, 'Proto') === 'https' ? 'https' : 'http'
  return publicUrl ?? `${scheme}://${requestedHost(ctx)}`
}

/** Returns the URL of the API as the client sees it, without a final slash. */
export function apiUrl(ctx: AppContext): string {
  return `${baseUrl(ctx)}/api/v1`
}

/** Returns `baseUrl`, parsed. */
export function parsedUrl(ctx: AppContext): URL {
  return new URL(baseUrl(ctx))
}

/** Returns the requested host, perhaps with a port. The host in an absolute target wins (RFC 9112 §3.2.2). */
export function requestedHost(ctx: AppContext): string {
  const target = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(ctx.originalUrl)
  return forwarded(ctx, 'Host') || (target?.[1] ?? (ctx.get('Host') || localAddress(ctx)))
}

/** Returns the last value of an `X-Forwarded-…` header from a trusted proxy, otherwise an empty text. */
function forwarded(ctx: AppContext, what: 'Proto' | 'Host'): string {
  return isTrusted(ctx.state.system.config, peerAddress(ctx))
    ? ctx.get(`X-Forwarded-${what}`).split(',').at(-1)!.trim()
    : ''
}

/** Returns the address of the connection's server side, for HTTP/1.0 requests without a `Host` header. */
function localAddress({ req: { socket } }: AppContext): string {
  const host = parse(socket.localAddress ?? '')?.toString() ?? 'localhost'
  return `${host.includes(':') ? `[${host}]` : host}:${socket.localPort ?? 80}`
}

function peerAddress(ctx: AppContext): Address {
  return peers.get(ctx.req.socket)!
}

/** Returns the remembered address at the other end of a connection; undefined if it is a trusted proxy's. */
export function directClient(config: Config, socket: Socket): string | undefined {
  const address = peers.get(socket)
  return address === undefined || isTrusted(config, address) ? undefined : address.toString()
}
