import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../errors.ts'
import { findPowerDns } from '../installation/programs.ts'
import { projectFolder } from '../installation/project.ts'
import { type Account, requireReach, unprivilegedAccount } from './account.ts'
import { type Daemon, endOrphan, readLog, startDaemon } from './daemon.ts'
import { giveTo, openInstanceFolder, openSocketFolder } from './instance-folder.ts'
import { findPorts, HOST, type Ports, reachable } from './ports.ts'
import type { Ending } from './running.ts'

/** A running private PowerDNS. To restart it, call startPowerDns with the same folder, ports and API key. */
export interface PowerDns extends Daemon {
  apiUrl: string
  apiKey: string
  apiPort: number
  /** The address at which it answers DNS queries, over UDP and TCP. */
  dnsHost: string
  dnsPort: number
}

export interface PowerDnsOptions {
  /** The addresses on which it answers queries (default: HOST). */
  dnsHosts?: string[]
  /** 0: any free port. */
  dnsPort: number
  apiPort?: number
  /** The networks that may transfer zones without TSIG (default: none). */
  transferAddresses?: string[] | undefined
  /** The key of an earlier start, for clients of that one; without it, a new key. */
  apiKey?: string
  /** False if committed data may be lost in a power failure (default: true); tests prefer speed. */
  durable?: boolean
  /** The settings of another backend than LMDB, which tests use. */
  backend?: readonly string[] | undefined
  progress: (text: string) => void
  /** Called when its process runs. */
  spawned?: () => void
}

const ending: Ending = [
  ['SIGTERM', 5000],
  ['SIGKILL', 5000],
]

/** Starts a private PowerDNS whose zones are kept in `folder`. */
export async function startPowerDns(folder: string, options: PowerDnsOptions): Promise<PowerDns> {
  const program = findPowerDns()
  if (program === undefined) throw new StartError('PowerDNS (pdns_server) with its LMDB backend is missing.')
  openInstanceFolder(folder)
  await endOrphan(folder, ending)
  const account = unprivilegedAccount('pdns')
  requireReach(account, [folder])
  const capabilities = account && options.dnsPort > 0 && options.dnsPort < 1024 ? ['net_bind_service'] : []
  const { apiKey = randomBytes(24).toString('hex'), dnsHosts = [HOST] } = options
  writeConfiguration(folder, apiKey, account, options)
  giveTo(account, join(folder, 'lmdb'))
  const socket = openSocketFolder(folder, account)
  options.progress('PowerDNS: starting')
  const { daemon, ports } = await startOnFreePorts(folder, { ...options, apiKey, dnsHosts }, ({ dns, api }) => {
    const settings = [
      `--config-dir=${join(folder, 'config')}`,
      `--socket-dir=${socket}`,
      `--local-address=${dnsHosts.join(',')}`,
      `--local-port=${dns}`,
      `--webserver-address=${HOST}`,
      `--webserver-port=${api}`,
    ]
    const started = startDaemon(program, settings, { folder, account, capabilities, ending, deathSignal: 'SIGKILL' })
    options.spawned?.()
    return started
  })
  return {
    ...daemon,
    apiUrl: apiUrl(ports),
    apiKey,
    apiPort: ports.api,
    dnsHost: reachable(dnsHosts[0]!),
    dnsPort: ports.dns,
    stop: async () => {
      await daemon.stop()
      rmSync(socket, { recursive: true, force: true })
    },
  }
}

/**
 * Writes the instance's configuration: pdns/pdns.conf and the API key. On the command line `ps` would show the key to
 * every user.
 */
function writeConfiguration(
  folder: string,
  apiKey: string,
  account: Account | undefined,
  { durable = true, backend, transferAddresses }: PowerDnsOptions,
): void {
  const file = join(folder, 'config', 'pdns.conf')
  const all = readFileSync(join(projectFolder(), 'pdns', 'pdns.conf'), 'utf8')
  const shared = backend === undefined ? all : all.replace(/^(launch=|lmdb-).*$/gm, '')
  const lmdb = [`lmdb-filename=${join(folder, 'lmdb', 'zones')}`, ...(durable ? [] : ['lmdb-sync-mode=nosync'])]
  // The password is that of its web pages, which show the latest questions, and who asked.
  const secrets = [`api-key=${apiKey}`, `webserver-password=${apiKey}`]
  const own = [...secrets, `webserver-allow-from=${HOST}`, ...(backend ?? lmdb)]
  if (transferAddresses !== undefined) own.push(`allow-axfr-ips=${transferAddresses.join(',')}`)
  mkdirSync(join(folder, 'config'), { recursive: true })
  chmodSync(join(folder, 'config'), 0o711)
  writeFileSync(file, `${shared}\n# This instance.\n${own.join('\n')}\n`, { mode: 0o600 })
  if (account) chownSync(file, account.uid, account.gid)
}

/** Starts PowerDNS; again, on other ports where they were not given, if another program took a port first. */
async function startOnFreePorts(
  folder: string,
  options: PowerDnsOptions & { apiKey: string; dnsHosts: string[] },
  start: (ports: Ports) => Daemon,
): Promise<{ daemon: Daemon; ports: Ports }> {
  const wanted = { dns: options.dnsPort, api: options.apiPort ?? 0 }
  for (let tries = 1; ; tries++) {
    const ports = await findPorts(wanted, options.dnsHosts)
    const daemon = start(ports)
    if (await becomesReady(daemon, folder, ports, options)) return { daemon, ports }
    await daemon.stop()
    if (!lostPort(folder) || tries === 5) throw new StartError(`PowerDNS does not start:\n${readLog(folder, 8)}`)
  }
}

/**
 * Waits until PowerDNS answers over DNS and HTTP. Returns false if it has exited, or goes on without its API. Sends the
 * key only once PowerDNS itself has the port: a program that took it first would learn the key.
 */
async function becomesReady(
  daemon: Daemon,
  folder: string,
  ports: Ports,
  { apiKey, dnsHosts }: { apiKey: string; dnsHosts: string[] },
): Promise<boolean> {
  const until = Date.now() + 60_000
  for (const isSo of [
    () => answersDns(reachable(dnsHosts[0]!), ports.dns),
    () => hasApiPort(folder, ports.api),
    () => answersHttp(apiUrl(ports), apiKey),
  ]) {
    while (!(await isSo())) {
      if (!daemon.isRunning() || lostPort(folder) || Date.now() > until) return false
      await sleep(10)
    }
  }
  return true
}

/** Reports whether a query gets any answer, which PowerDNS gives only after it has opened its backends. */
async function answersDns(host: string, port: number): Promise<boolean> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  try {
    socket.connect(port, host)
    await once(socket, 'connect')
    // Id 1, one question: the root's SOA, class IN.
    socket.send(Buffer.from('00010000000100000000000000' + '00060001', 'hex'))
    await once(socket, 'message', { signal: AbortSignal.timeout(200) })
    return true
  } catch {
    return false
  } finally {
    socket.close()
  }
}

async function answersHttp(url: string, apiKey: string): Promise<boolean> {
  try {
    // The service also needs this package, and Node's own fetch takes as long to load.
    const { request } = await import('undici')
    const { statusCode, body } = await request(`${url}/api/v1/servers/localhost`, {
      headers: { 'X-API-Key': apiKey },
      signal: AbortSignal.timeout(1000),
    })
    await body.dump()
    return statusCode === 200
  } catch {
    return false
  }
}

/** Reports whether PowerDNS says in its log, which no other program can write, that it listens on this port. */
function hasApiPort(folder: string, port: number): boolean {
  return new RegExp(`Listening for HTTP requests.*\\b${HOST}:${port}\\b`).test(readLog(folder))
}

function lostPort(folder: string): boolean {
  return readLog(folder).includes('Address already in use')
}

function apiUrl(ports: Ports): string {
  return `http://${HOST}:${ports.api}`
}
