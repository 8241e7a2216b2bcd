import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Endpoint } from '../wire/client.ts'

/**
 * Where PowerDNS may answer queries, by its settings: each of its addresses, and that of its API, where an address stands
 * for all. None if it keeps answers in a cache: these may be older than what it has.
 * @param url of its API
 */
export async function endpointsOf(valueOf: (setting: string) => string, url: string): Promise<Endpoint[]> {
  if (valueOf('cache-ttl') !== '0' || valueOf('query-cache-ttl') !== '0') return []
  const api = await addressOf(url)
  const endpoints = valueOf('local-address')
    .split(/[\s,;]+/)
    .map((text) => endpointOf(text, Number(valueOf('local-port'))))
    .map(({ address, port }) => ({ address: /^(0\.0\.0\.0|::)$/.test(address) ? api : address, port }))
  const known = new Map(endpoints.map((endpoint) => [`${endpoint.address} ${endpoint.port}`, endpoint]))
  return [...known.values()].filter(({ address, port }) => isIP(address) !== 0 && port > 0)
}

/** The address of the host in a URL; empty if it has none. */
async function addressOf(url: string): Promise<string> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return lookup(host).then(
    ({ address }) => address,
    () => '',
  )
}

/** An address that may have a port of its own: `192.0.2.1`, `192.0.2.1:5300`, `2001:db8::1`, `[2001:db8::1]:5300`. */
function endpointOf(text: string, port: number): Endpoint {
  const [, bracketed, plain, own] = /^(?:\[(.*)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? []
  return { address: bracketed ?? plain ?? text, port: own === undefined ? port : Number(own) }
}
