import test from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { INQUIRY_TIME, Parents } from '../../../src/nameserver/parents/parents.ts'
import { newFolder } from '../servers/folders.ts'
import { freePort, ownNetwork } from '../servers/ports.ts'
import { type RestartableServer, startKnot, startResolver } from '../servers/secondaries.ts'
import type { Server } from './dns.ts'

// A world above our nameservers: a root, the zone `example` on two nameservers of it (Knot), and a recursive resolver
// (BIND). The nameservers listen on the port of our PowerDNS, each on an address of its own.

/** A clock that is so many times as fast: with the true one, the questions of a test would take minutes. */
const SPEED = 50
export const FAST = {
  now: () => SPEED * performance.now(),
  sleep: (milliseconds: number) => sleep(milliseconds / SPEED),
}

/** What a nameserver of the zone `example` has: lines of its zone file. */
type Lines = string[]

export interface World {
  /** The value of RESOLVERS. */
  resolvers: string
  /** The addresses of the two nameservers of `example`. */
  addresses: [string, string]
  port: number
  /** Sets what each nameserver of `example` has; without `b`, both have the same. */
  delegate(a: Lines, b?: Lines): Promise<void>
  /** Ends a nameserver of `example`, so that a test can put another one at its address. */
  kill(which: 'a' | 'b'): Promise<void>
  /** Parents that are asked on this port, in quick succession. */
  parents(isAllowed?: (address: string) => boolean, inquiryTime?: number): Parents
  close(): Promise<void>
}

/** A DSYNC record that says where a parent zone wants NOTIFY for CDS; `scheme` 1 means that it wants it (RFC 9859). */
export function dsync(owner: string, { target, port }: { target: string; port: number }, scheme = 1): string {
  const name = Buffer.concat([...target.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.from([0])]) // prettier-ignore
  const fixed = Buffer.from([0, 59, scheme, port >> 8, port & 255])
  const data = Buffer.concat([fixed, name])
  return `${owner}. TYPE66 \\# ${data.length} ${data.toString('hex')}`
}

/** The lines that delegate a domain to us with these DS. */
export function delegation(name: string, ds: string[]): Lines {
  const hosts = ['ns1', 'ns2'].map((host) => `${name}. NS ${host}.zoneplane.test.`)
  return [...hosts, ...ds.map((content) => `${name}. DS ${content}`)]
}

const SOA = 'SOA a.nic.example. hostmaster.nic.example. 1 3600 600 1209600 60'

/** A world above these servers, for the tests of a file. */
export function useWorld(servers: () => { powerDns: Server }): () => World {
  let world: World | undefined
  test.serial.before('a world above', async () => {
    world = await startWorld(servers().powerDns)
  })
  test.after.always('it ends', async () => {
    await world?.close()
  })
  return () => world!
}

/** @param powerDns serves the domains, as `ns1.zoneplane.test` and `ns2`; at the address of `silent`, nobody answers */
export async function startWorld({ dnsHost, dnsPort }: Server): Promise<World> {
  const network = ownNetwork()
  const [root, a, b, silent] = [1, 2, 3, 4].map((n) => `${network}${n}`) as [string, ...string[]]
  const at = (address: string) => ({ dnsHost: address, dnsPort })
  const nameservers = [
    `ns1.zoneplane.test. A ${dnsHost}`,
    `ns2.zoneplane.test. A ${dnsHost}`,
    `silent.zoneplane.test. A ${silent}`,
  ]
  const glue = [`a.nic.example. A ${a}`, `b.nic.example. A ${b}`]
  const apex = ['example. NS a.nic.example.', 'example. NS b.nic.example.', ...glue]
  const rootZone = [`. ${SOA}`, '. NS r.', `r. A ${root}`, ...nameservers, ...apex]
  const rootServer = await startKnot(at(root), '.', writeZone(newFolder(), rootZone))
  const folders = { a: newFolder(), b: newFolder() }
  const zone = (lines: Lines) => [`example. ${SOA}`, ...apex, ...lines]
  const servers = {
    a: await startKnot(at(a!), 'example', writeZone(folders.a, zone([]))),
    b: await startKnot(at(b!), 'example', writeZone(folders.b, zone([]))),
  }
  const { resolver, bind } = await startOnFreePort(at(root))
  return {
    resolvers: `${resolver.dnsHost}:${resolver.dnsPort}`,
    addresses: [a!, b!],
    port: dnsPort,
    async delegate(ofA, ofB = ofA) {
      const put = async (which: 'a' | 'b', lines: Lines) => {
        await servers[which].kill()
        writeZone(folders[which], zone(lines))
        await servers[which].start()
      }
      await Promise.all([put('a', ofA), put('b', ofB)])
    },
    kill: (which) => servers[which].kill(),
    // Nameservers answer as slowly as ever, so an inquiry has its true time.
    parents: (isAllowed = () => true, inquiryTime = INQUIRY_TIME) =>
      new Parents({
        resolvers: [{ address: resolver.dnsHost, port: resolver.dnsPort }],
        isAllowed,
        port: dnsPort,
        clock: FAST,
        inquiryTime: SPEED * inquiryTime,
      }),
    async close() {
      await Promise.all([rootServer, servers.a, servers.b, bind].map((server) => server.kill()))
    },
  }
}

function writeZone(folder: string, lines: string[]): string {
  writeFileSync(join(folder, 'zone'), ['$TTL 60', ...lines, ''].join('\n'))
  return folder
}

/** It does not validate, and forgets failures at once. */
const FORGETFUL = 'dnssec-validation no; minimal-responses yes; servfail-ttl 0;'

/** Starts a resolver on a free port; on another one if somebody takes it before. */
async function startOnFreePort(root: Server): Promise<{ resolver: Server; bind: RestartableServer }> {
  for (let tries = 1; ; tries++) {
    // BIND listens only on addresses that an interface has.
    const resolver = { dnsHost: '127.0.0.1', dnsPort: await freePort() }
    try {
      return { resolver, bind: await startResolver(resolver, root, FORGETFUL) }
    } catch (error) {
      if (tries === 5) throw error
    }
  }
}
