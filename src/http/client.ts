import ipaddr from 'ipaddr.js'
import type Koa from 'koa'
import { isIP } from 'node:net'
import type { Config } from '../config.ts'
import type { Context } from './context.ts'

type Proxies = Config['trustedProxies']

/**
 * Where a request comes from: the peer, or, behind trusted proxies, the right-most address that none of them has
 * (contract §3.1). IPv4 addresses mapped into IPv6 are IPv4.
 */
export function clientAddress(ctx: Koa.Context, proxies: Proxies): string {
  let address = parse(ctx.req.socket.remoteAddress ?? '')
  const forwarded = ctx.get('X-Forwarded-For').split(',').reverse()
  for (const hop of forwarded) {
    if (address === undefined || !isTrusted(address, proxies)) break
    const next = parse(hop.trim())
    if (next === undefined) break
    address = next
  }
  return address?.toString() ?? '0.0.0.0'
}

/** The URL under which the caller sees us: as configured, else as the request says (contract §1.1). */
export function baseUrl(ctx: Koa.Context, config: Config): string {
  if (config.publicUrl !== undefined) return config.publicUrl
  const protocol = forwarded(ctx, config, 'Proto') || 'http'
  return `${protocol}://${calledHost(ctx, config)}`
}

/** The host that the caller means, perhaps with a port. */
export function calledHost(ctx: Koa.Context, config: Config): string {
  return forwarded(ctx, config, 'Host') || ctx.get('Host') || calledAddress(ctx)
}

/** What a trusted proxy says about the request that it got; else empty. */
function forwarded(ctx: Koa.Context, { trustedProxies }: Config, what: 'Proto' | 'Host'): string {
  const peer = parse(ctx.req.socket.remoteAddress ?? '')
  return peer !== undefined && isTrusted(peer, trustedProxies) ? last(ctx.get(`X-Forwarded-${what}`)) : ''
}

/** The URL of the API, as the caller sees it; without final slash. */
export function apiUrl(ctx: Context): string {
  return `${baseUrl(ctx, ctx.state.system.config)}/api/v1`
}

/** The host's name in the URL under which the caller sees us; `localhost` if what the request says is none. */
export function hostName(ctx: Context): string {
  const url = baseUrl(ctx, ctx.state.system.config)
  return URL.canParse(url) ? new URL(url).hostname : 'localhost'
}

/** What was called by who names no host: HTTP/1.0 allows that. */
function calledAddress({ req: { socket } }: Koa.Context): string {
  const host = parse(socket.localAddress ?? '')?.toString() ?? 'localhost'
  return `${host.includes(':') ? `[${host}]` : host}:${socket.localPort ?? 80}`
}

function last(list: string): string {
  return list.split(',').at(-1)!.trim()
}

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.replace(/%.*$/, '')
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare)
}

function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, proxies: Proxies): boolean {
  return proxies.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
}
