import test from 'ava'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/config.ts'
import { removeInstanceFolder } from '../../dev/instance-folder.ts'
import { startPowerDns, type PowerDns } from '../../dev/powerdns.ts'
import { createLog } from '../../src/log.ts'
import { closeSystem, createSystem, type Backends } from '../../src/server.ts'
import type { System } from '../../src/system.ts'
import { Client, parse } from './client.ts'
import { startProxy, type Proxy } from './proxy.ts'
import { createAccount, createDatabase, type Account } from './world.ts'

export const NAMESERVERS = 'ns1.zoneplane.test, ns2.zoneplane.test'

/**
 * What services stand on, without a service: a PowerDNS that can be killed, a proxy in front of its API, a database.
 * Services are started on it as processes of their own, and killed.
 */
export interface Site {
  backends: Backends
  proxy: Proxy
  /** PowerDNS as it runs now. */
  powerDns: () => PowerDns
  /** Starts PowerDNS again after its end: the same zones, on the same ports. */
  restartPowerDns: () => Promise<void>
  /** Asks PowerDNS itself, past proxy and service. */
  pdns(method: string, path: string, body?: unknown): Promise<{ status: number; json: unknown }>
  /** The same database and PowerDNS, past the proxy, for a look and for service functions; it serves nobody. */
  system: System
  account: Account
  start(environment?: Record<string, string>): Promise<Service>
  /** Kills all services. */
  killServices(): Promise<void>
}

/** A service in a process of its own. */
export interface Service {
  api: Client
  /** A client without token. */
  anonymous: Client
  clientOf(secret: string): Client
  url: string
  /** What it has said so far. */
  words: () => string
  signal(signal: NodeJS.Signals): void
  /** Resolves with its exit code, null if it was killed. */
  ended: Promise<number | null>
  kill(): Promise<void>
}

/** Gives a test file its site, from before its first test until after its last; what runs on it then is killed. */
export function useSite(): () => Site {
  let open: { site: Site; close: () => Promise<void> } | undefined
  test.serial.before('the site is made', async () => {
    open = await openSite()
  })
  test.after.always('the site is given back', async () => {
    await open?.close()
  })
  return () => open!.site
}

async function openSite(): Promise<{ site: Site; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER']!, 'site-'))
  const pdnsFolder = join(folder, 'pdns')
  const open = (ports: { dnsPort: number; apiPort?: number }) =>
    startPowerDns(pdnsFolder, { ...ports, durable: false, progress: () => undefined })
  const [first, database] = await Promise.all([open({ dnsPort: 0 }), createDatabase()])
  let powerDns = first
  const proxy = await startProxy(powerDns.apiUrl)
  const direct = { databaseUrl: database.url, pdnsApiUrl: powerDns.apiUrl, pdnsApiKey: powerDns.apiKey }
  const backends = { ...direct, pdnsApiUrl: proxy.url }
  const system = createSystem(readConfig({ NAMESERVERS }), direct, createLog('error'))
  const services: Service[] = []
  const account = await createAccount(system, '')
  const site: Site = {
    backends,
    proxy,
    powerDns: () => powerDns,
    async restartPowerDns() {
      await powerDns.exited
      powerDns = await open({ dnsPort: powerDns.dnsPort, apiPort: powerDns.apiPort })
    },
    async pdns(method, path, body) {
      const response = await fetch(`${powerDns.apiUrl}/api/v1/servers/localhost${path}`, {
        method,
        headers: { 'x-api-key': powerDns.apiKey, connection: 'close' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      return { status: response.status, json: parse(await response.text()) }
    },
    system,
    account,
    async start(environment) {
      const service = await startProcess(folder, backends, account.secret, environment)
      services.push(service)
      return service
    },
    async killServices() {
      await Promise.all(services.splice(0).map((service) => service.kill()))
    },
  }
  return {
    site,
    async close() {
      await site.killServices()
      await closeSystem(system)
      await proxy.close()
      await powerDns.stop()
      await removeInstanceFolder(pdnsFolder)
      await database.drop()
    },
  }
}

/** The environment of a service on these servers, on a free port. */
export function environmentFor(backends: Backends, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: backends.databaseUrl,
    PDNS_API_URL: backends.pdnsApiUrl,
    PDNS_API_KEY: backends.pdnsApiKey,
    NAMESERVERS,
    THROTTLE: 'off',
    ...more,
  }
}

/** Runs a program of the project: `main.js` or `cli.js`. */
export function runProgram(name: string, args: string[], env: NodeJS.ProcessEnv) {
  const file = fileURLToPath(new URL(`../../src/${name}`, import.meta.url))
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], { env, stdio: 'pipe' })
  let words = ''
  const hear = (chunk: Buffer) => {
    words += chunk.toString()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, ended, words: () => words }
}

async function startProcess(
  folder: string,
  backends: Backends,
  secret: string,
  environment: Record<string, string> = {},
): Promise<Service> {
  const env = environmentFor(backends, { ZONEPLANE_DATA: join(folder, 'data'), ...environment })
  const { child, ended, words } = runProgram('main.js', [], env)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const match = /API {4}(http:\/\/\S+)\/api\/v1\//.exec(words())
      if (match) resolve(match[1]!)
    })
    void ended.then((code) => {
      reject(new Error(`the service ended with ${code} before it was ready:\n${words()}`))
    })
  })
  return {
    api: new Client(url, secret),
    anonymous: new Client(url),
    clientOf: (token) => new Client(url, token),
    url,
    words,
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
