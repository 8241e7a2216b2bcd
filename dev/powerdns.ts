import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { capabilitiesToReach, unprivileged, type Account } from './account.ts'
import { endOrphan, wordsOf, startDaemon, type Daemon, type Ending } from './daemon.ts'
import { closeSocketFolder, giveTo, openInstanceFolder, openSocketFolder } from './instance-folder.ts'
import { findPorts, type Ports } from './ports.ts'
import { findPowerDns } from './powerdns-program.ts'
import { projectFolder } from './project.ts'
import { SetupError } from './setup-error.ts'

/** A running PowerDNS of our own. */
export interface PowerDns {
  apiUrl: string
  apiKey: string
  apiPort: number
  /** It answers here, over UDP and TCP. */
  dnsHost: string
  dnsPort: number
  pid: number
  /** Resolves when it is gone, whoever ended it. */
  exited: Promise<void>
  stop(): Promise<void>
}

export interface PowerDnsOptions {
  dnsHost: string
  /** 0: one that is free. */
  dnsPort: number
  apiPort?: number
  /** Whether what was written survives a power failure (default: yes); tests need only speed. */
  durable?: boolean
  progress: (text: string) => void
}

const ending: Ending = [
  ['SIGTERM', 5000],
  ['SIGKILL', 5000],
]

/** A private PowerDNS below `folder`, with the zones and the API key it had there before. */
export async function startPowerDns(folder: string, options: PowerDnsOptions): Promise<PowerDns> {
  const program = findPowerDns()
  if (program === undefined) throw new SetupError('PowerDNS (pdns_server) with its LMDB backend is missing.')
  openInstanceFolder(folder)
  await endOrphan(folder, ending)
  const account = unprivileged('pdns')
  const capabilities = capabilitiesToReach(account, [folder])
  if (account && options.dnsPort > 0 && options.dnsPort < 1024) capabilities.push('net_bind_service')
  const apiKey = writeConfiguration(folder, account, options.durable ?? true)
  giveTo(account, join(folder, 'lmdb'))
  const socket = openSocketFolder(folder, account)
  options.progress('PowerDNS: starting')
  const { daemon, ports } = await serve(folder, options, apiKey, ({ dns, api }) =>
    startDaemon(
      program,
      [
        `--config-dir=${join(folder, 'config')}`,
        `--lmdb-filename=${join(folder, 'lmdb', 'zones')}`,
        `--socket-dir=${socket}`,
        `--local-address=${options.dnsHost}`,
        `--local-port=${dns}`,
        `--webserver-address=127.0.0.1`,
        `--webserver-port=${api}`,
      ],
      { folder, account, capabilities, ending, deathSignal: 'SIGKILL' },
    ),
  )
  return {
    apiUrl: apiUrl(ports),
    apiKey,
    apiPort: ports.api,
    dnsHost: options.dnsHost,
    dnsPort: ports.dns,
    pid: daemon.pid,
    exited: daemon.exited,
    stop: async () => {
      await daemon.stop()
      closeSocketFolder(socket)
    },
  }
}

/**
 * Writes the instance's configuration: the project's, and the API key, which the list of processes would show if it
 * were given on the command line. Returns the key.
 */
function writeConfiguration(folder: string, account: Account | undefined, durable: boolean): string {
  const keyFile = join(folder, 'api-key')
  if (!existsSync(keyFile)) writeFileSync(keyFile, randomBytes(24).toString('hex'), { mode: 0o600 })
  const apiKey = readFileSync(keyFile, 'utf8')
  const shared = readFileSync(join(projectFolder(), 'pdns', 'pdns.conf'), 'utf8')
  const own = [`api-key=${apiKey}`, 'webserver-allow-from=127.0.0.1']
  if (!durable) own.push('lmdb-sync-mode=nosync')
  mkdirSync(join(folder, 'config'), { recursive: true })
  chmodSync(join(folder, 'config'), 0o711)
  const file = join(folder, 'config', 'pdns.conf')
  writeFileSync(file, `${shared}\n# This instance.\n${own.join('\n')}\n`, { mode: 0o600 })
  if (account) chownSync(file, account.uid, account.gid)
  return apiKey
}

type Start = (ports: Ports) => Daemon

/** Starts PowerDNS; where the ports are free to choose, on others if some other program was quicker. */
async function serve(folder: string, options: PowerDnsOptions, apiKey: string, start: Start) {
  const wanted = { dns: options.dnsPort, api: options.apiPort ?? 0 }
  for (let tries = 1; ; tries++) {
    const ports = await findPorts(options.dnsHost, wanted)
    const daemon = start(ports)
    if (await answers(daemon, folder, options.dnsHost, ports, apiKey)) return { daemon, ports }
    await daemon.stop()
    if (!lostPort(folder) || tries === 5) throw new SetupError(`PowerDNS does not start:\n${wordsOf(folder, 8)}`)
  }
}

/** Whether it comes to answer over DNS and HTTP; false once it has ended, or goes on without its API. */
async function answers(daemon: Daemon, folder: string, host: string, ports: Ports, apiKey: string): Promise<boolean> {
  const until = Date.now() + 60_000
  const dns = async (): Promise<boolean> => answersDns(reachable(host), ports.dns)
  const http = async (): Promise<boolean> => answersHttp(apiUrl(ports), apiKey)
  for (const check of [dns, http]) {
    while (!(await check())) {
      if (!daemon.isRunning() || lostPort(folder) || Date.now() > until) return false
      await sleep(10)
    }
  }
  return true
}

/** Whether a query gets an answer, whatever it says: then the backends are open, too. */
async function answersDns(host: string, port: number): Promise<boolean> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
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
    const response = await fetch(`${url}/api/v1/servers/localhost`, {
      headers: { 'X-API-Key': apiKey },
      signal: AbortSignal.timeout(1000),
    })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

function lostPort(folder: string): boolean {
  return wordsOf(folder).includes('Address already in use')
}

function apiUrl(ports: Ports): string {
  return `http://127.0.0.1:${ports.api}`
}

/** Where to ask a server that listens on every address. */
function reachable(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
}
