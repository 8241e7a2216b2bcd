import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { INQUIRY_TIME, Parents } from '../../../src/nameserver/parents/parents.ts'
import { newFolder } from '../servers/folders.ts'
import { freePort, ownNetwork } from '../servers/ports.ts'
import { installed } from '../servers/programs.ts'
import { type RestartableServer, startRestartable } from '../servers/secondaries.ts'
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

const SOA = 'SOA a.nic.example. hostmaster.nic.example. 1 3600 600 1209600 60'

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
  const rootServer = await startKnot(at(root), '.', [`. ${SOA}`, '. NS r.', `r. A ${root}`, ...nameservers, ...apex])
  const folders = { a: newFolder(), b: newFolder() }
  const zone = (lines: Lines) => [`example. ${SOA}`, ...apex, ...lines]
  const servers = {
    a: await startKnot(at(a!), 'example', zone([]), folders.a),
    b: await startKnot(at(b!), 'example', zone([]), folders.b),
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

function writeZone(folder: string, lines: string[]): void {
  writeFileSync(join(folder, 'zone'), ['$TTL 60', ...lines, ''].join('\n'))
}

async function startKnot(
  server: Server,
  zone: string,
  lines: string[],
  folder = newFolder(),
): Promise<RestartableServer> {
  writeZone(folder, lines)
  const file = join(folder, 'knot.conf')
  writeFileSync(
    file,
    `
server:
  rundir: ${folder}
  listen: ${server.dnsHost}@${server.dnsPort}
database:
  storage: ${folder}
zone:
  - domain: ${zone}
    storage: ${folder}
    file: zone
    zonefile-load: whole
    journal-content: none
`,
  )
  return startRestartable(server, installed('knotd'), ['-c', file], folder)
}

/** Starts a resolver on a free port; on another one if somebody takes it before. */
async function startOnFreePort(root: Server): Promise<{ resolver: Server; bind: RestartableServer }> {
  for (let tries = 1; ; tries++) {
    // BIND listens only on addresses that an interface has.
    const resolver = { dnsHost: '127.0.0.1', dnsPort: await freePort() }
    try {
      return { resolver, bind: await startResolver(resolver, root) }
    } catch (error) {
      if (tries === 5) throw error
    }
  }
}

/** Starts a resolver that asks all nameservers on the port of the root, and forgets soon, failures at once. */
async function startResolver(server: Server, root: Server): Promise<RestartableServer> {
  const folder = newFolder()
  const file = join(folder, 'named.conf')
  writeFileSync(join(folder, 'root'), `. 3600 NS r.\nr. 3600 A ${root.dnsHost}\n`)
  writeFileSync(
    file,
    `
options {
  directory "${folder}"; pid-file none; session-keyfile "${folder}/session.key"; port ${root.dnsPort};
  listen-on port ${server.dnsPort} { ${server.dnsHost}; }; listen-on-v6 { none; }; recursion yes; allow-recursion { any; };
  dnssec-validation no; empty-zones-enable no; minimal-responses yes; max-cache-ttl 1; max-ncache-ttl 1; servfail-ttl 0;
};
controls { };
zone "." { type hint; file "root"; };
`,
  )
  return startRestartable(server, installed('named'), ['-g', '-4', '-n', '1', '-c', file], folder)
}
