import { RATES } from './limits.ts'
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
} from './setting-values.ts'

/** The environment is invalid; the message has one line for each problem. */
export class ConfigError extends Error {}

/** Reads one setting. The type of a choice is the union of its values. @param read throws if the value is invalid */
type Setting = <T extends string | number | boolean | object | undefined>(
  name: string,
  fallback: T,
  read: (text: string) => T,
) => T

/** The settings of one process (contract §16), validated and frozen. */
export type Config = Readonly<ReturnType<typeof settings>>

function settings(setting: Setting) {
  const nameServers = setting('NAMESERVERS', ['ns1.zoneplane.test', 'ns2.zoneplane.test'], names)
  return {
    /** The addresses on which the API listens; `::` means every address, including IPv4. */
    hosts: setting('HOST', ['127.0.0.1', '::1'], addresses),
    /** 0: any free port. */
    port: setting('PORT', 8080, integer(0, 65535)),
    /** The addresses on which the private PowerDNS answers queries. */
    dnsHosts: setting('DNS_HOST', ['127.0.0.1'], ipAddresses),
    dnsPort: setting('DNS_PORT', 5300, integer(0, 65535)),
    /** True if the data of private servers survives a power failure. */
    durable: setting('DURABLE', true, isOn),
    /** True if everybody can create accounts for tests (contract §15.8). */
    ciControl: setting('CI_CONTROL', false, isOn),
    dataFolder: setting('ZONEPLANE_DATA', '.zoneplane', String),
    /** The permission to install missing programs of private servers. */
    install: setting('ZONEPLANE_INSTALL', 'ask', oneOf(['ask', 'yes', 'no'])),
    databaseUrl: setting('DATABASE_URL', undefined, database),
    pdnsApiUrl: setting('PDNS_API_URL', undefined, url('http:', 'https:')),
    pdnsApiKey: setting('PDNS_API_KEY', undefined, String),
    /** Seconds that a starting process waits for Postgres. */
    startTimeout: setting('START_TIMEOUT', 60, integer(0, 3600)),
    /** Seconds that a stopping process still answers, until balancers have noticed. */
    shutdownDelay: setting('SHUTDOWN_DELAY', 0, integer(0, 40)),
    /** Connections to the API of PowerDNS, which stalls above 10 connections from all processes together. */
    pdnsConnections: setting('PDNS_CONNECTIONS', 8, integer(1, 100)),
    /** The secret of the demo account's token. */
    token: setting('ZONEPLANE_TOKEN', undefined, secret),
    /** The file of a seed (seeds/read.ts). */
    seed: setting('ZONEPLANE_SEED', undefined, String),
    /** 32 octets each; the first one encrypts, all decrypt. Empty: the caller provides one. */
    keyEncryptionKeys: setting('KEY_ENCRYPTION_KEYS', [], encryptionKeys),
    /** The URL without final slash; undefined: derived from each request. */
    publicUrl: setting('PUBLIC_URL', undefined, (value) => url('http:', 'https:')(value).replace(/\/+$/, '')),
    /** Absolute names for the apex NS RRset of new domains; the first is the SOA's MNAME. */
    nameServers: nameServers.map((name) => `${name}.`),
    /** The nameservers that transfer our zones. */
    secondaries: setting('SECONDARIES', [], secondaries),
    /** The name, without final dot, of the catalog zone, which lists all zones for the secondaries; undefined: none. */
    catalogZone: setting('CATALOG_ZONE', undefined, hostName),
    /** The TSIG key with which they transfer zones; a name without final dot, and base64. */
    transferKey: setting('TRANSFER_KEY', undefined, transferKey),
    /** The networks from which the private PowerDNS allows transfers without TSIG. */
    transferAddresses: setting('TRANSFER_ADDRESSES', ['127.0.0.0/8', '::1/128'], transferAddresses),
    /** True if domains may name private, loopback and link-local addresses of secondaries of their own. */
    privateTransfers: setting('PRIVATE_TRANSFERS', false, isOn),
    /** The kind of denial of existence in the zones of new domains. */
    denial: setting('DENIAL', 'nsec3', oneOf(['nsec', 'nsec3'])),
    /** Names, without final dot, under which every account may register direct children. */
    localPublicSuffixes: setting('LOCAL_PUBLIC_SUFFIXES', [], names),
    /** Host names, without final dot, only for dynDNS updates; and those that only return the caller's address. */
    updateHosts: setting('UPDATE_HOSTS', [], names),
    checkIpHosts: setting('CHECK_IP_HOSTS', [], names),
    minimumTtl: setting('MINIMUM_TTL', 60, integer(1, 3600)),
    limitDomains: setting<number | undefined>('LIMIT_DOMAINS', 15, (value) =>
      value === 'none' ? undefined : integer(0, 2 ** 31 - 1)(value),
    ),
    /** Days for which the history of domains is kept. */
    historyDays: setting('HISTORY_DAYS', 90, integer(1, 36_500)),
    /** True if everybody can sign up. */
    registration: setting('REGISTRATION', 'closed', oneOf(['open', 'closed'])) === 'open',
    /** True if a new account becomes active only when its address is confirmed. */
    emailConfirmation: setting('EMAIL_CONFIRMATION', true, isOn),
    /** Seconds that the links in mails are valid. */
    confirmationValidity: setting('CONFIRMATION_VALIDITY', 12 * 3600, integer(60, 30 * 86_400)),
    throttle: setting('THROTTLE', true, isOn),
    /** True if clients without account must solve a captcha. */
    captcha: setting('CAPTCHA', false, isOn),
    /** The SMTP server; undefined: mails are written to files in the data folder. */
    mailUrl: setting('MAIL_URL', undefined, mailServer),
    /** The sender's address. */
    mailFrom: setting('MAIL_FROM', 'zoneplane@zoneplane.test', address),
    /** The place of the counts of requests: the memory of each process, or Postgres for all processes. */
    throttleStore: setting('THROTTLE_STORE', 'memory', oneOf(['memory', 'postgres'])),
    throttleRates: setting('THROTTLE_RATES', RATES, throttleRates),
    trustedProxies: setting('TRUSTED_PROXIES', [], networks),
    /** Octets of a request body. */
    bodyLimit: setting('BODY_LIMIT', 16 * 1024 * 1024, integer(1024, 2 ** 30)),
    /** Seconds in the Retry-After header of 503. */
    retryAfter: setting('RETRY_AFTER', 5, integer(1, 3600)),
    logLevel: setting('LOG_LEVEL', 'info', oneOf(['error', 'warn', 'info', 'debug'])),
    /** The form of clients' addresses in the log. */
    logAddresses: setting('LOG_ADDRESSES', 'full', oneOf(['full', 'prefix', 'none'])),
    /** undefined: text at a terminal, otherwise JSON. */
    logFormat: setting('LOG_FORMAT', undefined, oneOf<'json' | 'text'>(['json', 'text'])),
    /** The address that serves metrics; without a port, nothing is measured. */
    metricsHost: setting('METRICS_HOST', '127.0.0.1', ipAddress),
    metricsPort: setting('METRICS_PORT', undefined, integer(0, 65535)),
  }
}

/**
 * Reads the environment once. Reports every problem, not only the first.
 * @throws ConfigError
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const config = settings((name, fallback, read) => {
    const text = env[name]?.trim()
    if (text === undefined || text === '') return fallback
    try {
      return read(text)
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
      return fallback
    }
  })
  problems.push(...contradictions(config, env))
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.freeze(config)
}

/** Returns the contradictions between settings. */
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
    // Otherwise an attacker could choose, by the Host header, the target of links in other people's mails.
    [
      mailUrl !== undefined && publicUrl === undefined,
      'PUBLIC_URL: needed with MAIL_URL, because mails hold links, e.g. https://dns.example.net',
    ],
  ]
  return rules.filter(([broken]) => broken).map(([, problem]) => problem)
}

/** Parses a URL of Postgres, with one address. */
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
