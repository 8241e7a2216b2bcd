import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { hasBackend } from '../../../src/installation/programs.ts'
import { hasAll, type Requirement } from '../../../src/private-servers/packages.ts'

/** DNS programs of other projects; the tests check answers and zones with them. */
export const dnsTools: Requirement[] = [
  { what: 'dig and delv', isThere: () => hasAll('dig', 'delv'), packages: ['bind9-dnsutils'] },
  {
    what: 'named-compilezone, dnssec-dsfromkey and dnssec-verify',
    isThere: () => hasAll('named-compilezone', 'dnssec-dsfromkey', 'dnssec-verify'),
    packages: ['bind9-utils'],
  },
  {
    what: "PowerDNS' SQLite backend with its schema, and sqlite3",
    isThere: () => hasAll('sqlite3') && hasBackend('gsqlite3') && existsSync(SQLITE_SCHEMA),
    packages: ['pdns-backend-sqlite3', 'sqlite3'],
  },
  { what: 'ldns-verify-zone', isThere: () => hasAll('ldns-verify-zone'), packages: ['ldnsutils'] },
]

/** The tables of PowerDNS' SQLite backend. */
export const SQLITE_SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

/** The tests ask this validating resolver, too, where it can be installed. */
export const secondValidator: Requirement[] = [
  { what: 'unbound-host', isThere: () => hasAll('unbound-host'), packages: ['unbound-host'] },
]

/** The browser of the tests of pages. */
export const browser: Requirement[] = [
  { what: 'Chromium', isThere: () => existsSync(CHROMIUM), packages: ['chromium'] },
]

export const CHROMIUM = '/usr/bin/chromium'

/** The shells that complete commands. */
export const shells: Requirement[] = [
  { what: 'zsh', isThere: () => hasAll('zsh'), packages: ['zsh'] },
  { what: 'fish', isThere: () => hasAll('fish'), packages: ['fish'] },
]

/** What checks the Debian package. */
export const packaging: Requirement[] = [
  { what: 'dpkg-deb', isThere: () => hasAll('dpkg-deb'), packages: ['dpkg'] },
  { what: 'systemd-analyze', isThere: () => hasAll('systemd-analyze'), packages: ['systemd'] },
]

/** Nameservers that transfer the zones, and have parent zones. */
export const nameservers: Requirement[] = [
  { what: 'BIND', isThere: () => hasAll('named'), packages: ['bind9'] },
  { what: 'Knot', isThere: () => hasAll('knotd'), packages: ['knot'] },
  { what: 'NSD', isThere: () => hasAll('nsd'), packages: ['nsd'] },
]

/** For the deep tests: other nameservers, a pooler, Prometheus, and what docs/deployment.md has. */
export const neighbours: Requirement[] = [
  ...nameservers,
  { what: "PowerDNS' PostgreSQL backend", isThere: () => hasBackend('gpgsql'), packages: ['pdns-backend-pgsql'] },
  { what: 'Unbound', isThere: () => hasAll('unbound'), packages: ['unbound'] },
  { what: 'HAProxy', isThere: () => hasAll('haproxy'), packages: ['haproxy'] },
  { what: 'PgBouncer', isThere: () => hasAll('pgbouncer'), packages: ['pgbouncer'] },
  { what: 'dnsdist', isThere: () => hasAll('dnsdist'), packages: ['dnsdist'] },
  { what: 'promtool', isThere: () => hasAll('promtool'), packages: ['prometheus'] },
  { what: 'Patroni', isThere: () => hasAll('patroni'), packages: ['patroni'] },
  { what: 'etcd', isThere: () => hasAll('etcd'), packages: ['etcd-server'] },
  { what: 'keepalived', isThere: () => hasAll('keepalived'), packages: ['keepalived'] },
]

/** Client programs of other projects, which the tests run against the service. */
export const clientTools: Requirement[] = [
  { what: 'lego', isThere: () => hasAll('lego'), packages: ['lego'] },
  { what: 'pebble', isThere: () => hasAll('pebble'), packages: ['pebble'] },
  {
    what: 'ddclient, able to do TLS',
    isThere: () => hasAll('ddclient') && spawnSync('perl', ['-MIO::Socket::SSL', '-e1']).status === 0,
    packages: ['ddclient', 'libio-socket-ssl-perl'],
  },
  { what: 'inadyn', isThere: () => hasAll('inadyn'), packages: ['inadyn'] },
  { what: 'certbot', isThere: () => hasAll('certbot'), packages: ['certbot'] },
  { what: 'curl', isThere: () => hasAll('curl'), packages: ['curl'] },
  { what: 'openssl', isThere: () => hasAll('openssl'), packages: ['openssl'] },
  {
    what: 'Python, with virtual environments',
    isThere: () => spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0,
    packages: ['python3-venv'],
  },
  { what: 'Go', isThere: () => hasAll('go'), packages: ['golang-go'] },
  {
    what: 'the Go library nrdcg/desec',
    isThere: () => existsSync(`${GO_LIBRARIES}/src/github.com/nrdcg/desec`),
    packages: ['golang-github-nrdcg-desec-dev'],
  },
]

/** Those that only the suite of clients runs. */
export const builtClientTools: Requirement[] = [
  { what: 'knsupdate', isThere: () => hasAll('knsupdate'), packages: ['knot-dnsutils'] },
  { what: 'ISC dhcpd', isThere: () => hasAll('dhcpd'), packages: ['isc-dhcp-server'] },
  { what: 'dhclient', isThere: () => hasAll('dhclient'), packages: ['isc-dhcp-client'] },
  {
    what: 'Kea',
    isThere: () => hasAll('kea-dhcp4', 'kea-dhcp-ddns'),
    packages: ['kea-dhcp4-server', 'kea-dhcp-ddns-server'],
  },
  {
    what: "Ansible with Debian's collections",
    isThere: () => existsSync('/usr/lib/python3/dist-packages/ansible_collections/community/general'),
    packages: ['ansible', 'python3-dnspython'],
  },
]

/** Where Debian keeps the sources of Go libraries: a GOPATH. */
export const GO_LIBRARIES = '/usr/share/gocode'
