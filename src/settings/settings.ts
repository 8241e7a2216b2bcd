import { absolute } from '../dns/names.ts'
import { RATES } from '../limits.ts'
import { ACCOUNTS, SINGLE_SIGN_ON } from './account-settings.ts'
import * as parse from './parsers.ts'
import { optional, secret, setting, unset } from './setting.ts'

/** All settings (contract §16), in the groups and the order of the documents. The keys are those of `Config`. */
export const GROUPS = {
  Servers: {
    databaseUrl: secret(optional('DATABASE_URL', parse.database, 'a private Postgres')`
      Postgres 15 or newer, at one address, such as "postgres://zoneplane@localhost/zoneplane?host=/var/run/postgresql"`),
    pdnsApiUrl: optional('PDNS_API_URL', parse.urls('http:', 'https:'), 'a private PowerDNS')`
      base URL of PowerDNS' web server, such as "http://127.0.0.1:8081"; or of several, separated by
      commas (docs/operators/primaries.md)`,
    pdnsApiKey: secret(optional('PDNS_API_KEY', String, 'none, required with PDNS_API_URL')`
      API key of that web server, the same at all of them`),
    pdnsFailover: setting('PDNS_FAILOVER', parse.integer(0, 3600), '10')`
      with several in PDNS_API_URL: seconds without an answer of the active one, after which another one takes over, 1 to
      3600; "0": only "zoneplane primary use" changes over`,
    pdnsConnections: setting('PDNS_CONNECTIONS', parse.integer(1, 100), '8')`
      connections to that API, 1 to 100. PowerDNS stalls above 8 to 10 in all: divide them among the processes that
      share it`,
    keyEncryptionKeys: secret(unset(
      'KEY_ENCRYPTION_KEYS',
      parse.encryptionKeys,
      [],
      'made once and kept in the data folder',
    )`
      keys that encrypt secrets in the database, separated by commas: the first one encrypts, all decrypt.
      "openssl rand -base64 32" makes one. Required with DATABASE_URL. Keep a copy apart from the database`),
    startTimeout: setting('START_TIMEOUT', parse.integer(0, 3600), '60')`
      seconds that a starting process waits for Postgres, 0 to 3600`,
    shutdownDelay: setting('SHUTDOWN_DELAY', parse.integer(0, 40), '0')`
      seconds that a process still answers after SIGTERM, 0 to 40. "/readyz" is 503 meanwhile, so that a balancer can
      notice`,
  },
  'Private servers': {
    dataFolder: setting('ZONEPLANE_DATA', String, '.zoneplane')`
      data folder of the private servers`,
    install: setting('ZONEPLANE_INSTALL', parse.oneOf(['ask', 'yes', 'no']), 'ask')`
      whether root installs missing programs with apt-get: "ask" (at a terminal; without one, yes), "yes" or "no"`,
    durable: setting('DURABLE', parse.isOn, 'on')`
      "off", for tests: the servers write faster, and lose data if the machine (not only the service) crashes`,
    dnsHosts: setting('DNS_HOST', parse.ipAddresses, '127.0.0.1')`
      addresses on which PowerDNS answers, separated by commas; "0.0.0.0, ::" means all`,
    dnsPort: setting('DNS_PORT', parse.integer(0, 65535), '5300')`
      port on which PowerDNS answers; "0" means any free one`,
    transferAddresses: setting('TRANSFER_ADDRESSES', parse.transferAddresses, 'none')`
      addresses or networks that can transfer zones without TSIG, separated by commas, or "none"`,
  },
  API: {
    hosts: setting('HOST', parse.addresses, '127.0.0.1, ::1')`
      addresses of the API, separated by commas; "::" means all, also of IPv4`,
    port: setting('PORT', parse.integer(0, 65535), '8080')`
      port of the API; "0" means any free one`,
    publicUrl: optional(
      'PUBLIC_URL',
      (text) => parse.url('http:', 'https:')(text).replace(/\/+$/, ''),
      'the URL of each request',
    )`
      URL under which clients reach the API, such as "https://dns.example.net"; required with MAIL_URL`,
    trustedProxies: unset('TRUSTED_PROXIES', parse.networks, [])`
      addresses or networks of proxies whose "X-Forwarded-*" headers, and PROXY headers of DNS UPDATE, count, separated by commas`,
    console: setting('CONSOLE', parse.isOn, 'on')`
      whether the service has its web console at "/console/", where browsers that open "/" get`,
    powerdnsApi: setting('POWERDNS_API', parse.isOn, 'on')`
      whether the service also speaks PowerDNS' API, with tokens as keys (docs/powerdns-api.md)`,
    webhooks: setting('WEBHOOKS', parse.isOn, 'on')`
      "off": accounts have no webhooks, and no receiver is told anything (docs/operators/monitor.md)`,
    webhookNetworks: unset('WEBHOOK_NETWORKS', parse.transferAddresses, [])`
      private addresses or networks, separated by commas, at which receivers of webhooks may be, besides public ones; there
      also with "http:"`,
    dnsUpdateHosts: setting('DNS_UPDATE_HOST', parse.ipAddresses, '127.0.0.1')`
      addresses on which the service takes DNS UPDATE, separated by commas`,
    dnsUpdatePort: optional('DNS_UPDATE_PORT', parse.integer(0, 65535), 'none: no DNS UPDATE')`
      port, by UDP and TCP, on which the service takes DNS UPDATE with the TSIG keys of tokens (docs/dns-update.md); "0"
      means any free one`,
    updateHosts: unset('UPDATE_HOSTS', parse.names, [])`
      host names, separated by commas, that serve dynDNS updates on every path, and nothing else`,
    checkIpHosts: unset('CHECK_IP_HOSTS', parse.names, [])`
      host names, separated by commas, that answer with the caller's address on every path`,
    bodyLimit: setting('BODY_LIMIT', parse.integer(1024, 2 ** 30), '16777216')`
      octets of the largest body that creates a domain`,
    retryAfter: setting('RETRY_AFTER', parse.integer(1, 3600), '5')`
      seconds in "Retry-After" of 503 responses`,
  },
  DNS: {
    nameServers: unset(
      'NAMESERVERS',
      (text) => parse.names(text).map(absolute),
      ['ns1.zoneplane.test.', 'ns2.zoneplane.test.'],
      'ns1.zoneplane.test, ns2.zoneplane.test',
    )`
      host names for the NS RRset of new domains, separated by commas; the first one is the SOA's primary. Required with
      PDNS_API_URL`,
    denial: setting('DENIAL', parse.oneOf(['nsec', 'nsec3']), 'nsec3')`
      how new zones deny names that do not exist: "nsec3", or "nsec". With "nsec", large zones gain and lose names at no
      extra cost, but everybody can list their names (docs/operators/zones.md)`,
    localPublicSuffixes: unset('LOCAL_PUBLIC_SUFFIXES', parse.names, [])`
      names, separated by commas; every account can register direct children of them. If Zoneplane has a domain of such a
      name, its zone delegates the children`,
    minimumTtl: setting('MINIMUM_TTL', parse.integer(1, 3600), '60')`
      minimum TTL of new domains, 1 to 3600 seconds`,
    historyDays: setting('HISTORY_DAYS', parse.integer(1, 36_500), '90')`
      days that Zoneplane keeps the history of domains, and can restore deleted domains`,
  },
  Secondaries: {
    secondaries: unset('SECONDARIES', parse.secondaries, [])`
      nameservers that transfer the zones, such as "ns2.example.net=192.0.2.53, ns3.example.net=[2001:db8::53]:5300".
      Zoneplane sends them NOTIFY after every change`,
    catalogZone: optional('CATALOG_ZONE', parse.hostName)`
      name of a catalog zone (RFC 9432), which lists all zones for the secondaries`,
    transferKey: secret(optional('TRANSFER_KEY', parse.transferKey)`
      TSIG key that can transfer every zone, such as "hmac-sha256:transfer:SECRET". "openssl rand -base64 32" makes a
      secret`),
    privateTransfers: setting('PRIVATE_TRANSFERS', parse.isOn, 'off')`
      "on": users can name private, loopback and other special-purpose addresses for their own secondaries, and checks
      at the parent ask nameservers at such addresses`,
  },
  Delegations: {
    resolvers: unset('RESOLVERS', parse.endpoints, [], 'the resolvers of the system')`
      recursive resolvers, such as "192.0.2.53, [2001:db8::53]:5300". They find the nameservers of the parent zones, which
      Zoneplane then asks itself`,
    delegationChecks: optional('DELEGATION_CHECKS', parse.isOn, '"on"; "off" with a private PowerDNS')`
      whether Zoneplane checks in the background what the parent zones have of all domains`,
  },
  Accounts: ACCOUNTS,
  'Single sign-on': SINGLE_SIGN_ON,
  Mail: {
    mailUrl: secret(optional('MAIL_URL', parse.mailServer, 'none: mails are files in the data folder')`
      SMTP server: "smtp://[user:password@]host[:port]", or the same with "smtps://". Zoneplane sends a password only
      over TLS`),
    mailFrom: unset('MAIL_FROM', parse.address, 'zoneplane@zoneplane.test', 'none, required with MAIL_URL')`
      sender's address`,
    operatorEmail: optional('OPERATOR_EMAIL', parse.address, 'none: no mail')`
      operator's address, which gets a mail when another PowerDNS takes over by itself (docs/operators/primaries.md)`,
  },
  Throttling: {
    throttle: setting('THROTTLE', parse.isOn, 'on')`
      whether Zoneplane throttles requests: "on" or "off"`,
    throttleStore: setting('THROTTLE_STORE', parse.oneOf(['memory', 'postgres']), 'memory')`
      where processes count requests: "memory", each for itself, or "postgres", all together`,
    throttleRates: unset('THROTTLE_RATES', parse.throttleRates, RATES, 'the rates in docs/api.md')`
      other rates for some scopes, such as "user=50000/d; dyndns=20/2min, 100/h", per "s", "min", "h" or "d"`,
  },
  'Log and metrics': {
    logLevel: setting('LOG_LEVEL', parse.oneOf(['error', 'warn', 'info', 'debug']), 'info')`
      "error", "warn", "info" (a line per request) or "debug"`,
    logAddresses: setting('LOG_ADDRESSES', parse.oneOf(['full', 'prefix', 'none']), 'full')`
      clients' addresses in the log: "full", "prefix" (IPv4 /24, IPv6 /48) or "none"`,
    logFormat: optional('LOG_FORMAT', parse.oneOf(['json', 'text']), '"text" at a terminal, otherwise "json"')`
      form of the lines on standard error: "text", or "json", an object a line`,
    metricsHost: setting('METRICS_HOST', parse.ipAddress, '127.0.0.1')`
      IP address that serves "/metrics" to Prometheus (docs/operators/monitor.md)`,
    metricsPort: optional('METRICS_PORT', parse.integer(0, 65535), 'none: nothing is measured')`
      port of its own for "/metrics"; "0" means any free one`,
  },
  Tests: {
    ciControl: setting('CI_CONTROL', parse.isOn, 'off')`
      "on": everybody can create accounts (docs/ci.md); only with private servers`,
    seed: optional('ZONEPLANE_SEED', String)`
      YAML file of accounts, tokens, policies and domains to create at start, instead of the demo (docs/ci.md)`,
  },
}

/** All settings by the keys of `Config`. */
export const SETTINGS = {
  ...GROUPS.Servers,
  ...GROUPS['Private servers'],
  ...GROUPS.API,
  ...GROUPS.DNS,
  ...GROUPS.Secondaries,
  ...GROUPS.Delegations,
  ...GROUPS.Accounts,
  ...GROUPS['Single sign-on'],
  ...GROUPS.Mail,
  ...GROUPS.Throttling,
  ...GROUPS['Log and metrics'],
  ...GROUPS.Tests,
}

/** The settings of one process, validated and frozen. */
export type Config = { readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key]['fallback'] }
