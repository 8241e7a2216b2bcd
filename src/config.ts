import { RATES, type Rate, type Scope } from './limits.ts'
import {
  addresses,
  address,
  encryptionKeys,
  hostName,
  integer,
  ipAddress,
  ipAddresses,
  isOn,
  mailServer,
  names,
  networks,
  oneOf,
  secondaries,
  secret,
  throttleRates,
  transferAddresses,
  transferKey,
  url,
  type Network,
  type Secondary,
  type TransferKey,
} from './setting-values.ts'

/** The settings of one process (contract §16), validated and frozen. */
export interface Config {
  /** The addresses on which the API listens; `::` means every address, including IPv4. */
  hosts: string[]
  /** 0: any free port. */
  port: number
  /** The addresses on which the private PowerDNS answers queries. */
  dnsHosts: string[]
  dnsPort: number
  /** Whether what private servers have stored survives a power failure. */
  durable: boolean
  /** Whether everybody may create accounts for tests (contract §15.8). */
  ciControl: boolean
  dataFolder: string
  /** Whether missing programs of private servers may be installed. */
  install: 'ask' | 'yes' | 'no'
  databaseUrl: string | undefined
  pdnsApiUrl: string | undefined
  pdnsApiKey: string | undefined
  /** Whether anyone may sign up. */
  registration: boolean
  /** Whether a new account becomes active only when its address is confirmed. */
  emailConfirmation: boolean
  /** Seconds that the links in mails are valid. */
  confirmationValidity: number
  /** Seconds that a starting process waits for Postgres. */
  startTimeout: number
  /** Seconds that a process which shall stop still answers, until balancers have noticed. */
  shutdownDelay: number
  /** Connections to the API of PowerDNS, which stalls above 10 connections from all processes together. */
  pdnsConnections: number
  /** The secret of the demo account's token. */
  token: string | undefined
  /** The file of a seed (seeds/read.ts). */
  seed: string | undefined
  /** 32 octets each; the first one encrypts, all decrypt. Empty: the caller provides one. */
  keyEncryptionKeys: readonly Buffer[]
  /** Without final slash; undefined: derived from each request. */
  publicUrl: string | undefined
  /** Absolute names for the apex NS RRset of new domains; the first is the SOA's MNAME. */
  nameServers: string[]
  /** The nameservers that transfer our zones. */
  secondaries: readonly Secondary[]
  /** The name of the catalog zone, which tells them which zones there are, without final dot; undefined: there is none. */
  catalogZone: string | undefined
  /** The TSIG key with which they transfer zones; a name without final dot, and base64. */
  transferKey: TransferKey | undefined
  /** From where the private PowerDNS allows transfers without TSIG. */
  transferAddresses: string[]
  /** Whether domains may name private, loopback and link-local addresses of secondaries of their own. */
  privateTransfers: boolean
  /** How the zones of new domains deny what does not exist. */
  denial: (typeof DENIALS)[number]
  /** Names, without final dot, under which every account may register direct children. */
  localPublicSuffixes: string[]
  /** Host names, without final dot, that serve only dynDNS updates; and those that only return the caller's address. */
  updateHosts: string[]
  checkIpHosts: string[]
  minimumTtl: number
  limitDomains: number | undefined
  /** Days for which the history of domains is kept. */
  historyDays: number
  throttle: boolean
  /** Whether clients without account must solve a captcha. */
  captcha: boolean
  /** The SMTP server; undefined: mails are written to files in the data folder. */
  mailUrl: string | undefined
  /** The sender's address. */
  mailFrom: string
  /** Where requests are counted: in the memory of each process, or in Postgres for all. */
  throttleStore: 'memory' | 'postgres'
  throttleRates: Record<Scope, readonly Rate[]>
  trustedProxies: Network[]
  /** Octets of a request body. */
  bodyLimit: number
  /** Seconds in the Retry-After header of 503. */
  retryAfter: number
  logLevel: string
  /** What the log says of clients' addresses. */
  logAddresses: (typeof LOG_ADDRESSES)[number]
  /** undefined: text at a terminal, else JSON. */
  logFormat: (typeof LOG_FORMATS)[number] | undefined
  /** Where metrics are served; without a port, nothing is measured. */
  metricsHost: string
  metricsPort: number | undefined
}

/** The environment is invalid; the message has one line for each problem. */
export class ConfigError extends Error {}

const LOG_LEVELS = ['error', 'warn', 'info', 'debug']
const LOG_ADDRESSES = ['full', 'prefix', 'none'] as const
const LOG_FORMATS = ['json', 'text'] as const
const DENIALS = ['nsec', 'nsec3'] as const
const STORES = ['memory', 'postgres'] as const

/**
 * Reads the environment once. Every problem is reported, not only the first.
 * @throws ConfigError
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []

  function setting<T>(name: string, fallback: T, read: (text: string) => T): T {
    const text = env[name]?.trim()
    if (text === undefined || text === '') return fallback
    try {
      return read(text)
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
      return fallback
    }
  }

  const nameServers = setting('NAMESERVERS', ['ns1.zoneplane.test', 'ns2.zoneplane.test'], names)
  const config: Config = {
    hosts: setting('HOST', ['127.0.0.1', '::1'], addresses),
    port: setting('PORT', 8080, integer(0, 65535)),
    dnsHosts: setting('DNS_HOST', ['127.0.0.1'], ipAddresses),
    dnsPort: setting('DNS_PORT', 5300, integer(0, 65535)),
    durable: setting('DURABLE', true, isOn),
    ciControl: setting('CI_CONTROL', false, isOn),
    dataFolder: setting('ZONEPLANE_DATA', '.zoneplane', String),
    install: setting('ZONEPLANE_INSTALL', 'ask', oneOf(['ask', 'yes', 'no'])),
    databaseUrl: setting('DATABASE_URL', undefined, database),
    pdnsApiUrl: setting('PDNS_API_URL', undefined, url('http:', 'https:')),
    pdnsApiKey: setting('PDNS_API_KEY', undefined, String),
    startTimeout: setting('START_TIMEOUT', 60, integer(0, 3600)),
    shutdownDelay: setting('SHUTDOWN_DELAY', 0, integer(0, 40)),
    pdnsConnections: setting('PDNS_CONNECTIONS', 8, integer(1, 100)),
    token: setting('ZONEPLANE_TOKEN', undefined, secret),
    seed: setting('ZONEPLANE_SEED', undefined, String),
    keyEncryptionKeys: setting('KEY_ENCRYPTION_KEYS', [], encryptionKeys),
    publicUrl: setting('PUBLIC_URL', undefined, (value) => url('http:', 'https:')(value).replace(/\/+$/, '')),
    nameServers: nameServers.map((name) => `${name}.`),
    secondaries: setting('SECONDARIES', [], secondaries),
    catalogZone: setting('CATALOG_ZONE', undefined, hostName),
    transferKey: setting('TRANSFER_KEY', undefined, transferKey),
    transferAddresses: setting('TRANSFER_ADDRESSES', ['127.0.0.0/8', '::1/128'], transferAddresses),
    privateTransfers: setting('PRIVATE_TRANSFERS', false, isOn),
    denial: setting<Config['denial']>('DENIAL', 'nsec3', oneOf(DENIALS)),
    localPublicSuffixes: setting('LOCAL_PUBLIC_SUFFIXES', [], names),
    updateHosts: setting('UPDATE_HOSTS', [], names),
    checkIpHosts: setting('CHECK_IP_HOSTS', [], names),
    minimumTtl: setting('MINIMUM_TTL', 60, integer(1, 3600)),
    limitDomains: setting<number | undefined>('LIMIT_DOMAINS', 15, (value) =>
      value === 'none' ? undefined : integer(0, 2 ** 31 - 1)(value),
    ),
    historyDays: setting('HISTORY_DAYS', 90, integer(1, 36_500)),
    registration: setting('REGISTRATION', 'closed', oneOf(['open', 'closed'])) === 'open',
    emailConfirmation: setting('EMAIL_CONFIRMATION', true, isOn),
    confirmationValidity: setting('CONFIRMATION_VALIDITY', 12 * 3600, integer(60, 30 * 86_400)),
    throttle: setting('THROTTLE', true, isOn),
    captcha: setting('CAPTCHA', false, isOn),
    mailUrl: setting('MAIL_URL', undefined, mailServer),
    mailFrom: setting('MAIL_FROM', 'zoneplane@zoneplane.test', address),
    throttleStore: setting('THROTTLE_STORE', 'memory', oneOf(STORES)),
    throttleRates: setting('THROTTLE_RATES', RATES, throttleRates),
    trustedProxies: setting('TRUSTED_PROXIES', [], networks),
    bodyLimit: setting('BODY_LIMIT', 16 * 1024 * 1024, integer(1024, 2 ** 30)),
    retryAfter: setting('RETRY_AFTER', 5, integer(1, 3600)),
    logLevel: setting('LOG_LEVEL', 'info', oneOf(LOG_LEVELS)),
    logAddresses: setting('LOG_ADDRESSES', 'full', oneOf(LOG_ADDRESSES)),
    logFormat: setting<Config['logFormat']>('LOG_FORMAT', undefined, oneOf(LOG_FORMATS)),
    metricsHost: setting('METRICS_HOST', '127.0.0.1', ipAddress),
    metricsPort: setting<number | undefined>('METRICS_PORT', undefined, integer(0, 65535)),
  }
  problems.push(...contradictions(config, env))
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.freeze(config)
}

/** What settings say about each other. */
function contradictions(config: Config, env: NodeJS.ProcessEnv): string[] {
  const { databaseUrl, pdnsApiUrl, pdnsApiKey, mailUrl, publicUrl } = config
  const isSet = (name: string) => Boolean(env[name]?.trim())
  const rules: [broken: boolean, problem: string][] = [
    [
      config.ciControl && (databaseUrl ?? pdnsApiUrl) !== undefined,
      'CI_CONTROL: only with private servers, because everybody may create accounts',
    ],
    [(pdnsApiUrl === undefined) !== (pdnsApiKey === undefined), 'PDNS_API_URL and PDNS_API_KEY: set both or none'],
    [
      pdnsApiUrl !== undefined && !isSet('NAMESERVERS'),
      'NAMESERVERS: needed with a PowerDNS of your own, e.g. "ns1.example.net, ns2.example.net"',
    ],
    [
      databaseUrl !== undefined && !isSet('KEY_ENCRYPTION_KEYS'),
      'KEY_ENCRYPTION_KEYS: needed with a database of your own; `openssl rand -base64 32` makes a key. Keep a copy of ' +
        'it apart from the database',
    ],
    [
      pdnsApiUrl !== undefined && isSet('TRANSFER_ADDRESSES'),
      'TRANSFER_ADDRESSES: only with a private PowerDNS; set allow-axfr-ips of your own',
    ],
    [mailUrl !== undefined && !isSet('MAIL_FROM'), 'MAIL_FROM: needed with MAIL_URL, e.g. dns@example.net'],
    // Without it, an attacker could choose the target of links in other people's mails by the Host header.
    [
      mailUrl !== undefined && publicUrl === undefined,
      'PUBLIC_URL: needed with MAIL_URL, because mails hold links, e.g. https://dns.example.net',
    ],
  ]
  return rules.filter(([broken]) => broken).map(([, problem]) => problem)
}

/** A URL of Postgres, with one address. */
function database(value: string): string {
  const [, server = ''] = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(value) ?? []
  if (server.includes(',') || /[?&]host=[^&]*(,|%2c)/i.test(value)) {
    throw new Error(
      'must have one address; for several servers, that of a balancer such as HAProxy, which leads to the primary ' +
        '(docs/deployment.md)',
    )
  }
  return url('postgres:', 'postgresql:')(value)
}
