import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPorts } from '../../../src/private-servers/ports.ts'
import { ask, type Server } from '../dns/dns.ts'
import { eventually } from '../eventually.ts'
import { newFolder } from './folders.ts'
import { installed, type Program, startProgram } from './programs.ts'

/** A nameserver of another project. Its address stays when it is started again. */
export interface RestartableServer extends Server {
  /** What it has logged since it was started last. */
  output: () => string
  start(): Promise<void>
  /** Lets it read its zone files again. */
  reload(): void
  /** Ends it at once, as a power failure would. */
  kill(): Promise<void>
}

/** One that transfers zones. */
export interface SecondaryServer extends RestartableServer {
  kind: Kind
}

export type Kind = keyof typeof PROGRAMS

interface Setting {
  folder: string
  primaries: readonly Server[]
  zones: readonly string[]
  port: number
  /** A second port, for control. */
  control: number
}

/** For each: its configuration, how it is started in the foreground, and the option that prints its version. */
const PROGRAMS = {
  bind: {
    program: 'named',
    version: '-v',
    configure: ({ folder, primaries, zones, port }: Setting) => `
      options {
        directory "${folder}"; pid-file none; session-keyfile "${folder}/session.key"; recursion no; notify no;
        listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; dnssec-validation no;
        serial-query-rate 1000; transfers-per-ns 20; transfers-in 50; max-records-per-type 5000;
      };
      controls { };
      ${zones.map((zone) => `zone "${zone}" { type secondary; file "${zone}.db"; primaries { ${primaries.map(({ dnsHost, dnsPort }) => `${dnsHost} port ${dnsPort};`).join(' ')} }; };`).join('\n')}`,
    args: (file: string) => ['-g', '-n', '1', '-c', file],
  },
  knot: {
    program: 'knotd',
    version: '-V',
    configure: ({ folder, primaries, zones, port }: Setting) => `
server:
  rundir: ${folder}
  listen: 127.0.0.1@${port}
  background-workers: 16
database:
  storage: ${folder}
remote:
${primaries.map(({ dnsHost, dnsPort }, i) => `  - id: primary${i}\n    address: ${dnsHost}@${dnsPort}`).join('\n')}
acl:
  - id: notify
    address: 127.0.0.1
    action: notify
template:
  - id: default
    storage: ${folder}
zone:
${zones.map((zone) => `  - domain: ${zone}\n    master: [${primaries.map((_, i) => `primary${i}`).join()}]\n    acl: notify`).join('\n')}
`,
    args: (file: string) => ['-c', file],
  },
  nsd: {
    program: 'nsd',
    version: '-v',
    configure: ({ folder, primaries, zones, port }: Setting) => `
server:
  ip-address: 127.0.0.1
  port: ${port}
  username: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: ""
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  xfrdir: "${folder}"
  zonefiles-write: 10
  xfrd-reload-timeout: 0
  verbosity: 2
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${zones
  .map(
    (zone) => `zone:
  name: ${zone}
  zonefile: ${zone}.zone
${primaries.map(({ dnsHost, dnsPort }) => `  request-xfr: AXFR ${dnsHost}@${dnsPort} NOKEY`).join('\n')}
  allow-notify: 127.0.0.1 NOKEY`,
  )
  .join('\n')}
`,
    args: (file: string) => ['-d', '-c', file],
  },
  powerdns: {
    program: 'pdns_server',
    version: '--version',
    configure: ({ folder, port, control }: Setting) => `
launch=lmdb
lmdb-filename=${folder}/zones
lmdb-shards=1
local-address=127.0.0.1
local-port=${port}
secondary=yes
xfr-cycle-interval=60
trusted-notification-proxy=127.0.0.1
dname-processing=yes
api=yes
api-key=secret
webserver=yes
webserver-address=127.0.0.1
webserver-port=${control}
socket-dir=${folder}
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
security-poll-suffix=
`,
    args: (_file: string, folder: string) => [`--config-dir=${folder}`, '--daemon=no', '--guardian=no'],
  },
} as const

/** The version of a program. */
export function versionOf(kind: Kind): string {
  const { program, version } = PROGRAMS[kind]
  const { stdout, stderr } = spawnSync(installed(program), [version], { encoding: 'utf8' })
  return /\d+\.\d+\.\d+/.exec(stdout + stderr)![0]
}

/**
 * Starts a secondary for these zones, whether or not the primary has them yet. It can have several primaries.
 * @param edit changes its configuration
 */
export async function startSecondary(
  kind: Kind,
  primary: Server | readonly Server[],
  zones: readonly string[],
  edit = (configuration: string) => configuration,
): Promise<SecondaryServer> {
  const folder = newFolder()
  const primaries = [primary].flat()
  const { program, configure, args } = PROGRAMS[kind]
  const { dns: port, api: control } = await findPorts({ dns: 0, api: 0 }, ['127.0.0.1'])
  const file = join(folder, kind === 'powerdns' ? 'pdns.conf' : 'secondary.conf')
  writeFileSync(file, edit(configure({ folder, primaries, zones, port, control })))
  const server = { dnsHost: '127.0.0.1', dnsPort: port }
  const running = await startRestartable(server, installed(program), args(file, folder), folder)
  if (kind === 'powerdns') for (const zone of zones) await addZone(control, zone, primaries)
  return { ...running, kind }
}

/** Starts a nameserver that runs in the foreground, and waits until it answers. */
export async function startRestartable(
  server: Server,
  program: string,
  args: string[],
  folder: string,
): Promise<RestartableServer> {
  let running: Program | undefined
  const start = async () => {
    running = startProgram(program, args, { PATH: process.env['PATH'] }, folder)
    const { output, ended } = running
    const dead = ended.then((code) => {
      throw new Error(`${program} ended with ${code}:\n${output()}`)
    })
    dead.catch(() => undefined)
    await Promise.race([eventually(() => answers(server)), dead])
  }
  await start()
  return {
    ...server,
    output: () => running?.output() ?? '',
    start,
    reload() {
      running?.child.kill('SIGHUP')
    },
    async kill() {
      running?.child.kill('SIGKILL')
      await running?.ended
    },
  }
}

/** Starts a Knot with one zone, which is the file `zone` in its folder. */
export async function startKnot(server: Server, zone: string, folder: string): Promise<RestartableServer> {
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

/**
 * Starts a resolver (BIND) that asks all nameservers on the port of the root, and forgets soon.
 * @param options, trust of its configuration: options besides, and other statements
 */
export async function startResolver(
  server: Server,
  root: Server,
  options: string,
  trust = '',
): Promise<RestartableServer> {
  const folder = newFolder()
  const file = join(folder, 'named.conf')
  writeFileSync(join(folder, 'root'), `. 3600 NS r.\nr. 3600 A ${root.dnsHost}\n`)
  writeFileSync(
    file,
    `
options {
  directory "${folder}"; pid-file none; session-keyfile "${folder}/session.key"; port ${root.dnsPort};
  listen-on port ${server.dnsPort} { ${server.dnsHost}; }; listen-on-v6 { none; }; recursion yes; allow-recursion { any; };
  empty-zones-enable no; max-cache-ttl 1; max-ncache-ttl 1; ${options}
};
controls { };
${trust}
zone "." { type hint; file "root"; };
`,
  )
  return startRestartable(server, installed('named'), ['-g', '-4', '-n', '1', '-c', file], folder)
}

/** Whether a nameserver answers. */
export async function answers(server: Server): Promise<boolean> {
  return ask(server, 'nothing.invalid', 'SOA').then(
    () => true,
    () => false,
  )
}

async function addZone(control: number, zone: string, primaries: readonly Server[]): Promise<void> {
  const masters = primaries.map(({ dnsHost, dnsPort }) => `${dnsHost}:${dnsPort}`)
  const body = { name: `${zone}.`, kind: 'Slave', masters, nameservers: [] }
  const { status } = await fetch(`http://127.0.0.1:${control}/api/v1/servers/localhost/zones`, {
    method: 'POST',
    headers: { 'x-api-key': 'secret', connection: 'close' },
    body: JSON.stringify(body),
  })
  if (status !== 201) throw new Error(`PowerDNS answered ${status}`)
}
