import test from 'ava'
import { createLog } from '../../src/log.ts'
import type { Waits } from '../../src/nameserver/nameserver.ts'
import { type Backends, createSystem } from '../../src/process/create-system.ts'
import { readConfig } from '../../src/settings/config.ts'
import { query } from '../../src/store/database.ts'
import type { System } from '../../src/system.ts'
import { type Account, type AccountOptions, createAccount } from './clients/accounts.ts'
import { newZone, type RRsetBody, type Zone } from './clients/api.ts'
import { Client } from './clients/client.ts'
import type { Backend } from './servers/backends.ts'
import type { Database } from './servers/postgres/databases.ts'
import { type Pair, startPair } from './servers/powerdns/pair.ts'
import type { Proxy } from './servers/proxy.ts'
import { type Servers, startServers } from './servers/servers.ts'
import {
  environmentFor,
  type LocalService,
  type ServiceProcess,
  startService,
  startServiceProcess,
} from './servers/service.ts'

/** A service in this process, with its own servers. */
export interface TestService extends Servers, LocalService {
  /** A new account, and a client with a token of its own. */
  account(options?: AccountOptions): Promise<Account>
  /** Runs a statement in its database. */
  sql: <Row>(text: string, values?: Record<string, unknown>) => Promise<Row[]>
}

/** Services that come and go on some servers: in this process, or as processes that are killed. */
export interface Services {
  /** A system on the same database and PowerDNS, without the proxy, for calls of our functions. It runs no service. */
  system: System
  /** The account of the services' clients. */
  owner: Account
  /** Starts a service in this process, which costs a tenth of what `start` costs. */
  serve(environment?: Record<string, string>, waits?: Waits): Promise<OwnService>
  /** Starts a service in a process of its own, for tests that kill it or send it signals. */
  start(environment?: Record<string, string>): Promise<TestProcess>
  /** Kills all processes of the service, and stops the services in this process. */
  killServices(): Promise<void>
}

/** Servers for services that come and go. */
export interface TestServers extends Servers, Services {}

/** Two PowerDNS for services that come and go. */
export interface TestPair extends Pair, Services {}

/** A service in this process, and a client with the token of `owner`. */
export type OwnService = LocalService & { api: Client }

/** A service in a process of its own, and a client with the token of `owner`. */
export type TestProcess = ServiceProcess & { api: Client }

/**
 * Starts a service in this process for a test file, and stops it after the last test.
 * @param backend that PowerDNS must have for these tests
 */
export function useService(
  environment: Record<string, string> = {},
  backend?: Backend,
  waits?: Waits,
): () => TestService {
  return useOne(() => startTestService(environment, backend, waits))
}

/**
 * Starts servers for a test file, and stops them, and all services on them, after the last test.
 * @param backend that PowerDNS must have for these tests
 * @param makeDatabase the database of the services; without it, one in the Postgres of this run
 */
export function useServers(backend?: Backend, makeDatabase?: () => Promise<Database>): () => TestServers {
  return useOne(() => startTestServers(backend, makeDatabase))
}

/**
 * Starts two PowerDNS for services that come and go. `system` reaches them by their proxies, since it knows them by the
 * names that the services know.
 */
export async function startTestPair(backend?: string[]): Promise<TestPair> {
  const pair = await startPair(backend)
  const proxies = pair.primaries.map(({ proxy }) => proxy)
  return withServices(pair, pair.backends, proxies)
}

/** A new account for the tests of a file. */
export function useAccount(service: () => TestService): () => Account {
  return useMade('an account', () => service().account())
}

/** A new account for the tests of a file, and its domain, with these RRsets besides its NS. */
export function useZone(service: () => TestService, ...rrsets: RRsetBody[]): () => Zone {
  return useMade('an account with a domain', () => newZone(service(), ...rrsets))
}

/** A service on these servers, in this process, for the tests of a file. */
export function useServed(servers: () => TestServers): () => OwnService {
  return useMade('a service is started', () => servers().serve())
}

/** Starts a service in this process for `work`. */
export async function withService(
  environment: Record<string, string>,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService(environment)
  try {
    await work(service)
  } finally {
    await service.close()
  }
}

function useOne<T extends { close(): Promise<void> }>(start: () => Promise<T>): () => T {
  let started: T | undefined
  // Serial, so that a file's own `before` hooks run after it.
  test.serial.before('the servers start', async () => {
    started = await start()
  })
  test.after.always('the servers stop', async () => {
    await started?.close()
  })
  return () => started!
}

function useMade<T>(what: string, make: () => Promise<T>): () => T {
  let made: T | undefined
  test.before(what, async () => {
    made = await make()
  })
  return () => made!
}

async function startTestService(
  environment: Record<string, string>,
  backend?: Backend,
  waits?: Waits,
): Promise<TestService> {
  const servers = await startServers(backend)
  const service = await startService(servers.backends, environment, waits)
  return {
    ...servers,
    ...service,
    account: (options) => createAccount(service.system, service.url, options),
    sql: (text, values) => query(service.system.db, text, values),
    async close() {
      servers.proxy.heal()
      await service.stop()
      await servers.close()
    },
  }
}

async function startTestServers(backend?: Backend, makeDatabase?: () => Promise<Database>): Promise<TestServers> {
  const servers = await startServers(backend, makeDatabase)
  const direct = { ...servers.backends, pdnsApiUrl: servers.powerDns.apiUrl }
  return withServices(servers, direct, [servers.proxy])
}

/** @param direct where `system` finds them */
async function withServices<T extends { backends: Backends; close(): Promise<void> }>(
  servers: T,
  direct: Backends,
  proxies: Proxy[],
): Promise<T & Services> {
  const system = createSystem(readConfig(environmentFor(direct)), direct, createLog('error'))
  await system.nameserver.probe()
  const owner = await createAccount(system, '')
  const services: ServiceProcess[] = []
  const local: LocalService[] = []
  const killServices = async () => {
    await Promise.all([
      ...services.splice(0).map((service) => service.kill()),
      ...local.splice(0).map((service) => service.stop()),
    ])
  }
  return {
    ...servers,
    system,
    owner,
    async serve(environment = {}, waits) {
      const { backends } = servers
      const own = {
        databaseUrl: environment['DATABASE_URL'] ?? backends.databaseUrl,
        pdnsApiUrl: environment['PDNS_API_URL'] ?? backends.pdnsApiUrl,
        pdnsApiKey: backends.pdnsApiKey,
      }
      const service = await startService(own, environment, waits)
      local.push(service)
      return {
        ...service,
        api: service.clientOf(owner.secret),
        async stop() {
          if (!local.includes(service)) return
          local.splice(local.indexOf(service), 1)
          await service.stop()
        },
      }
    },
    async start(environment) {
      const service = await startServiceProcess(servers.backends, environment)
      services.push(service)
      return { ...service, api: service.clientOf(owner.secret) }
    },
    killServices,
    async close() {
      for (const proxy of proxies) proxy.heal()
      await killServices()
      await system[Symbol.asyncDispose]()
      await servers.close()
    },
  }
}
