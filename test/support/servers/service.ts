import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { createLog } from '../../../src/log.ts'
import type { Waits } from '../../../src/nameserver/nameserver.ts'
import { type Backends, createMetrics, createSystem } from '../../../src/process/create-system.ts'
import { serve } from '../../../src/process/tasks.ts'
import { usePrimary } from '../../../src/service/operation/change-over.ts'
import { type Config, readConfig } from '../../../src/settings/config.ts'
import type { System } from '../../../src/system.ts'
import { Client } from '../clients/client.ts'
import { describeService } from '../clients/description.ts'
import { newFolder } from './folders.ts'
import { noteLog } from './logs.ts'
import { startOurs } from './programs.ts'

/** A running service. */
export interface Service {
  /** Where it listens, without path. */
  url: string
  /** A client without token. */
  anonymous: Client
  /** A client with this token. */
  clientOf: (secret: string) => Client
}

/** A service in this process. */
export interface LocalService extends Service {
  system: System
  /** What it has logged so far. */
  logged: () => string
  /** Where metrics are served, if they are. */
  metricsPort: number | undefined
  /** Where DNS UPDATE is taken, if it is. */
  updatePort: number | undefined
  stop: () => Promise<void>
}

/** A service in a separate process. */
export interface ServiceProcess extends Service {
  pid: number
  /** What it has written so far. */
  output: () => string
  signal(signal: NodeJS.Signals): void
  /** Resolves with its exit code, null if it was killed. */
  ended: Promise<number | null>
  kill(): Promise<void>
}

/** The key of all test services. */
export const ENCRYPTION_KEY = randomBytes(32).toString('base64')

/** The environment of a service on these servers, on a free port. */
export function environmentFor(backends: Backends, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: backends.databaseUrl,
    PDNS_API_URL: backends.pdnsApiUrl,
    PDNS_API_KEY: backends.pdnsApiKey,
    NAMESERVERS: 'ns1.zoneplane.test, ns2.zoneplane.test',
    KEY_ENCRYPTION_KEYS: ENCRYPTION_KEY,
    THROTTLE: 'off',
    DELEGATION_CHECKS: 'off',
    // Nobody answers there, so no test asks strangers.
    RESOLVERS: '127.0.0.1:9',
    ...more,
  }
}

/** Starts a service in this process. */
export async function startService(
  backends: Backends,
  environment: Record<string, string> = {},
  waits?: Waits,
): Promise<LocalService> {
  const lines: string[] = []
  const stream = new PassThrough().on('data', (line: Buffer) => lines.push(line.toString()))
  noteLog('service', () => lines.join(''))
  const config = readConfig(environmentFor(backends, { ZONEPLANE_DATA: newFolder(), ...environment }))
  const metrics = await createMetrics(config)
  const log = createLog(config.logLevel, stream, config.logFormat)
  const system = createSystem(config, backends, log, { metrics, waits })
  await usePrimary(system)
  await system.nameserver.probe()
  const running = await serve(system)
  return {
    ...serviceAt(`http://127.0.0.1:${running.port}`, config),
    system,
    logged: () => lines.join(''),
    metricsPort: running.metricsPort,
    updatePort: running.updatePort,
    async stop() {
      await running[Symbol.asyncDispose]()
      await system[Symbol.asyncDispose]()
    },
  }
}

/** Starts a service in a separate process. */
export async function startServiceProcess(
  backends: Backends,
  environment: Record<string, string> = {},
): Promise<ServiceProcess> {
  const env = environmentFor(backends, { ZONEPLANE_DATA: newFolder(), ...environment })
  const { child, ended, output } = startOurs(['start'], env)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const found = apiUrl(output())
      if (found !== undefined) resolve(found)
    })
    void ended.then((code) => {
      reject(new Error(`the service ended with ${code} before it was ready:\n${output()}`))
    })
  })
  return {
    ...serviceAt(url, readConfig(env)),
    pid: child.pid!,
    output,
    signal: (signal) => {
      child.kill(signal)
    },
    ended,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** The URL, without path, that a service has printed after its start; undefined before. */
export function apiUrl(output: string): string | undefined {
  return /API {4}(http:\/\/\S+)\/api\/v1\//.exec(output)?.[1]
}

function serviceAt(url: string, config: Config): Service {
  describeService(url, config)
  return { url, anonymous: new Client(url), clientOf: (secret) => new Client(url, secret) }
}
