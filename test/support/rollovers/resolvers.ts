import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from '../dns/dns.ts'
import { newFolder } from '../servers/folders.ts'
import { ownNetwork } from '../servers/ports.ts'
import { installed } from '../servers/programs.ts'
import { type RestartableServer, startRestartable } from '../servers/secondaries.ts'
import type { SignedParent } from './parent.ts'

/** A validating resolver (Unbound). */
export interface Resolver extends RestartableServer {
  /** What is special about it. */
  kind: string
}

/** Where zones are served: their names, and their nameservers. */
type Zones = Record<string, readonly Server[]>

export interface Resolvers {
  validating: Resolver[]
  /** One of them, which answers for any name in the zones. */
  any: Resolver
  close(): Promise<void>
}

/** A strict validator rejects a zone that an algorithm in its DS set does not sign. */
const STRICT = ['harden-algo-downgrade: yes']
/** One without a cache sees what the nameservers have now. */
const COLD = ['cache-max-ttl: 0', 'cache-max-negative-ttl: 0']

/**
 * Starts resolvers that trust the parent's DS: with caches and without, of both opinions about algorithms, and one that
 * sees the world through the cache of a resolver that does not validate.
 */
export async function startResolvers(parent: SignedParent, domains: Zones, port: number): Promise<Resolvers> {
  const network = ownNetwork()
  const trust = ['module-config: "validator iterator"', `trust-anchor: "example. DS ${parent.ds}"`]
  const zones = Object.entries({ example: parent.servers, ...domains }).map(([zone, servers]) => {
    const addresses = servers.map(({ dnsHost, dnsPort }) => `stub-addr: ${dnsHost}@${dnsPort}`)
    return ['stub-zone:', `name: "${zone}"`, ...addresses]
  })
  const start = (n: number, kind: string, options: string[], asks: string[]) =>
    startUnbound({ dnsHost: `${network}${n}`, dnsPort: port }, kind, options, asks)
  const cache = await start(1, 'cache', ['module-config: "iterator"'], zones.flat())
  const above = ['forward-zone:', 'name: "."', `forward-addr: ${cache.dnsHost}@${port}`]
  const validating = await Promise.all([
    start(2, 'warm', trust, zones.flat()),
    start(3, 'warm and strict', [...trust, ...STRICT], zones.flat()),
    start(4, 'cold and strict', [...trust, ...STRICT, ...COLD], zones.flat()),
    start(5, 'strict, behind a cache', [...trust, ...STRICT, ...COLD], above),
  ])
  return {
    validating,
    any: validating[2],
    async close() {
      await Promise.all([cache, ...validating].map((server) => server.kill()))
    },
  }
}

async function startUnbound(server: Server, kind: string, options: string[], asks: string[]): Promise<Resolver> {
  const folder = newFolder()
  const file = join(folder, 'unbound.conf')
  const lines = [
    'server:',
    ...[`interface: ${server.dnsHost}`, `port: ${server.dnsPort}`, 'access-control: 127.0.0.0/8 allow'],
    ...[`directory: "${folder}"`, 'chroot: ""', 'username: ""', 'pidfile: ""', 'use-syslog: no'],
    ...['do-daemonize: no', 'do-ip6: no', 'do-not-query-localhost: no'],
    // Each question reaches the nameservers, or a cached answer to the same question.
    'aggressive-nsec: no',
    ...['val-log-level: 2', 'log-servfail: yes'],
    ...options,
    ...asks,
    'remote-control:',
    'control-enable: no',
  ]
  writeFileSync(file, [...lines, ''].join('\n'))
  const running = await startRestartable(server, installed('unbound'), ['-d', '-p', '-c', file], folder)
  return { ...running, kind }
}
