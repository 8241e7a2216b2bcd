import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf, StartError } from '../errors.ts'
import { RECOVERY_PAUSE } from '../flow/background.ts'
import { Bell } from '../flow/bell.ts'
import { Budget } from '../flow/budget.ts'
import { Issuer } from '../issuer/issuer.ts'
import {
  accountsBodies,
  CHECKS,
  EXPORTS,
  READERS,
  RIGHTS,
  SEARCHES,
  STRANGERS_BODIES,
  WAITING_MAX,
  WAITING_PER_ACCOUNT,
} from '../limits.ts'
import type { Log } from '../log.ts'
import { createFolderMailer } from '../mail/folder.ts'
import { createSmtpMailer } from '../mail/smtp.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { Cluster } from '../nameserver/cluster/cluster.ts'
import { WAITS, type Waits } from '../nameserver/nameserver.ts'
import { Parents } from '../nameserver/parents/parents.ts'
import type { Observer } from '../nameserver/powerdns/api.ts'
import { PowerDns } from '../nameserver/powerdns/powerdns.ts'
import { Secondaries } from '../nameserver/secondaries/secondaries.ts'
import { mayAsk } from '../service/domains/transfers.ts'
import { usePrimary } from '../service/operation/change-over.ts'
import { watch } from '../service/operation/measuring.ts'
import { requireDecryption } from '../service/operation/stored-secrets.ts'
import { createCounters } from '../service/throttling/counters.ts'
import { WRITERS_PER_ACCOUNT } from '../service/zone/publication.ts'
import { callbackOf, type Config } from '../settings/config.ts'
import { addressesOf } from '../settings/parsers.ts'
import { isUnavailable } from '../store/connections/failures.ts'
import { requireSessions } from '../store/connections/pooler.ts'
import { openDatabase } from '../store/database.ts'
import { migrate } from '../store/migrate.ts'
import type { System } from '../system.ts'
import { currentTime } from '../time.ts'

/** Milliseconds that Postgres has to connect, and to count. */
export const COUNTING_TIME = 1_000

/**
 * Milliseconds that a service gives Postgres for a statement outside of transactions; and for one in a transaction,
 * where it can wait for WITHDRAWAL_TIMEOUT, or read or write whole zones.
 */
const STATEMENT_TIME = 10_000
const LONG_STATEMENT_TIME = 120_000

/**
 * Connections to Postgres for writers: enough for all that PowerDNS can serve at once, and some more for writers that
 * are still storing their changes.
 */
const WRITER_CONNECTIONS = 16

/** The addresses of the backends, and PowerDNS' key. */
export interface Backends {
  databaseUrl: string
  /** One address, or several, separated by commas. */
  pdnsApiUrl: string
  pdnsApiKey: string
}

/** A system whose connections are closed when it is disposed of. */
export type OpenSystem = System & AsyncDisposable

const CONNECTIONS = 10
const MARK_CONNECTIONS = 4
const COUNTER_CONNECTIONS = 4

/** Seconds after which a counter's connection is replaced, because its address may lead to another Postgres by then. */
const COUNTER_LIFETIME = 5

/** What only some processes have. */
interface Circumstances {
  /** Aborts when the process shall stop. */
  stopping?: AbortSignal
  /** The recipient of measurements; without it, nothing is measured. */
  metrics?: Metrics | undefined
  /** True if statements may take any time, because an operator waits for them, and can stop the process. */
  isPatient?: boolean
  /** Shorter ones, in tests. */
  waits?: Waits | undefined
}

/** Creates a system with these backends; it connects when first used. */
export function createSystem(
  config: Config,
  backends: Backends,
  log: Log,
  { stopping = new AbortController().signal, metrics, isPatient = false, waits = WAITS }: Circumstances = {},
): OpenSystem {
  const { databaseUrl } = backends
  const open = (size: number) =>
    isPatient
      ? openDatabase(databaseUrl, size)
      : openDatabase(databaseUrl, size, STATEMENT_TIME, { inTransaction: LONG_STATEMENT_TIME })
  const pools = {
    writers: open(WRITER_CONNECTIONS),
    marks: open(MARK_CONNECTIONS),
    counters: openDatabase(databaseUrl, COUNTER_CONNECTIONS, COUNTING_TIME, { lifetime: COUNTER_LIFETIME }),
    listener: openDatabase(databaseUrl, 1, COUNTING_TIME),
  }
  const primaries = new Cluster(
    addressesOf(backends.pdnsApiUrl).map((url, _, all) => ({
      name: hostOf(url),
      nameserver: new PowerDns({
        url,
        hasPeers: all.length > 1,
        key: backends.pdnsApiKey,
        connections: config.pdnsConnections,
        primary: config.nameServers[0]!,
        dnskeyTtl: waits.dnskeyTtl,
        transferKey: config.transferKey,
        observer: metrics && observerOf(metrics),
      }),
    })),
  )
  const system: OpenSystem = {
    config,
    db: open(CONNECTIONS),
    pools,
    primaries,
    nameserver: primaries.nameserver,
    secondaries: new Secondaries(config.secondaries, (secondary, answer) => {
      metrics?.count('zoneplane_secondary_answers_total', { secondary, answer })
    }),
    parents: new Parents({ resolvers: config.resolvers, isAllowed: (address) => mayAsk(config, address) }),
    issuer: createIssuer(config, log),
    mailer:
      config.mailUrl === undefined
        ? createFolderMailer(join(config.dataFolder, 'mails'), config.mailFrom)
        : createSmtpMailer(config.mailUrl, config.mailFrom),
    workBell: new Bell(),
    counters: createCounters(config, pools.counters, log, metrics),
    bounds: {
      queues: new Budget({ each: 1 }),
      rights: new Budget(RIGHTS),
      writers: new Budget({ each: WRITERS_PER_ACCOUNT }),
      bodies: {
        strangers: new Budget(STRANGERS_BODIES),
        accounts: new Budget(accountsBodies(config.bodyLimit)),
      },
      readers: new Budget(READERS),
      exports: new Budget(EXPORTS),
      waiting: new Budget({ each: WAITING_PER_ACCOUNT, all: WAITING_MAX }),
      checks: new Budget(CHECKS),
      searches: new Budget(SEARCHES),
    },
    stopping,
    waits,
    log,
    metrics,
    now: currentTime,
    async [Symbol.asyncDispose]() {
      await Promise.all([primaries.close(), system.secondaries.close()])
      await Promise.all([system.db, ...Object.values(pools)].map((pool) => pool.end()))
    },
  }
  if (metrics !== undefined) watch(system, metrics)
  return system
}

/** Creates the metrics; undefined without METRICS_PORT. Loads them only on demand, because that takes a while. */
export async function createMetrics({ metricsPort }: Config): Promise<Metrics | undefined> {
  return metricsPort === undefined ? undefined : new (await import('../metrics/metrics.ts')).Metrics()
}

/** Measures calls of PowerDNS. */
function observerOf(metrics: Metrics): Observer {
  return {
    ended(call, outcome, start) {
      metrics.count('zoneplane_powerdns_calls_total', { call, outcome })
      metrics.time('zoneplane_powerdns_call_duration_seconds', { call }, start)
    },
    waited(start) {
      metrics.time('zoneplane_powerdns_wait_duration_seconds', {}, start)
    },
  }
}

function createIssuer(config: Config, log: Log): Issuer | undefined {
  const { oidcIssuer: url, oidcClientId, oidcClientSecret, publicUrl } = config
  if (url === undefined) return undefined
  return new Issuer({
    url,
    name: config.oidcName,
    clientId: oidcClientId!,
    clientSecret: oidcClientSecret!,
    callback: callbackOf(publicUrl!),
    scopes: config.oidcGroups.length === 0 ? [] : ['groups'],
    onFailure: (reason) => log.warn('single sign-on failed', { reason }),
  })
}

/**
 * Makes sure that connections are sessions, brings the schema up to date, and makes sure that KEY_ENCRYPTION_KEYS fits
 * the database. Waits for a Postgres that is unreachable, still starting or a standby for `patience` seconds; reports
 * any other failure at once. Resolves early, with nothing done, if `stopping` aborts meanwhile.
 * @throws StartError with the address of Postgres, or about a pooler or KEY_ENCRYPTION_KEYS
 */
export async function prepare(
  system: System,
  { databaseUrl }: Backends,
  { patience = 0, stopping }: { patience?: number; stopping?: AbortSignal } = {},
): Promise<void> {
  const where = `Postgres at ${hostOf(databaseUrl)}`
  const end = performance.now() + patience * 1000
  for (let attempts = 1; stopping?.aborted !== true; attempts++) {
    try {
      // A private Postgres has no pooler, and must be ready quickly.
      if (system.config.databaseUrl !== undefined) await requireSessions(databaseUrl)
      await migrate(databaseUrl)
      await requireDecryption(system)
      return
    } catch (error) {
      if (error instanceof StartError) throw error
      if (!isUnavailable(error) || performance.now() >= end) throw unusable(where, error)
      if (attempts === 1) system.log.warn(`waiting for ${where}`, { seconds: patience, reason: reasonOf(error) })
    }
    await sleep(RECOVERY_PAUSE, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** Makes sure that Postgres answers, whatever the database contains. @throws StartError, perhaps with its address */
export async function requirePostgres({ databaseUrl }: Backends): Promise<void> {
  await requireSessions(databaseUrl).catch((error: unknown) => {
    if (error instanceof StartError) throw error
    throw unusable(`Postgres at ${hostOf(databaseUrl)}`, error)
  })
}

/** Makes sure that the active PowerDNS answers. @throws StartError with its address; Unavailable */
export async function requireNameserver(system: System): Promise<void> {
  await usePrimary(system)
  await requireAnswers(system)
}

/** Makes sure that the PowerDNS that this process takes for the active one answers. @throws StartError with its address */
export async function requireAnswers({ primaries }: System): Promise<void> {
  const { name, nameserver } = primaries.active
  await nameserver.probe().catch((error: unknown) => {
    throw unusable(`PowerDNS at ${name}`, error)
  })
}

function unusable(where: string, error: unknown): StartError {
  return new StartError(`${where} cannot be used: ${reasonOf(error)}`, { cause: error })
}

/** Returns the host, port and path of a URL, without its secrets. */
function hostOf(url: string): string {
  const { host, pathname, searchParams } = new URL(url)
  return `${host === '' ? (searchParams.get('host') ?? 'localhost') : host}${pathname === '/' ? '' : pathname}`
}
