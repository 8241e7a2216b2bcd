import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unprivilegedAccount } from '../../../src/private-servers/account.ts'
import { giveTo } from '../../../src/private-servers/instance-folder.ts'
import { newFolder } from './folders.ts'
import { SQLITE_SCHEMA } from './packages.ts'
import { createDatabase } from './postgres/databases.ts'
import { askPostgres, PostgresServer } from './postgres/postgres-server.ts'

/** The backends of PowerDNS that the tests can use. */
const BACKENDS = { lmdb: () => undefined, gsqlite3: sqlite, gpgsql: postgres }
export type Backend = keyof typeof BACKENDS

/** The settings of a backend with a new, empty database; undefined: LMDB, which is the default. TEST_BACKEND names another. */
export async function makeBackend(
  kind = (process.env['TEST_BACKEND'] ?? 'lmdb') as Backend,
): Promise<string[] | undefined> {
  return BACKENDS[kind]()
}

function sqlite(): string[] {
  const folder = newFolder()
  const file = join(folder, 'zones')
  execFileSync('sqlite3', [file], { input: readFileSync(SQLITE_SCHEMA) })
  const account = unprivilegedAccount('pdns')
  giveTo(account, folder)
  return [
    'launch=gsqlite3',
    `gsqlite3-database=${file}`,
    'gsqlite3-dnssec=yes',
    'gsqlite3-pragma-foreign-keys=yes',
    'gsqlite3-pragma-synchronous=0',
  ]
}

/** In the Postgres of this run, which lets in only its own user: so PowerDNS must run as the same one, not as root's. */
async function postgres(): Promise<string[]> {
  const { url } = await createDatabase('template0')
  await askPostgres(url, readFileSync(POSTGRES_SCHEMA, 'utf8') + STATISTICS)
  const { pathname, username, searchParams } = new URL(url)
  return [
    'launch=gpgsql',
    `gpgsql-host=${searchParams.get('host')}`,
    `gpgsql-dbname=${pathname.slice(1)}`,
    `gpgsql-user=${username}`,
    'gpgsql-dnssec=yes',
  ]
}

/** The settings of a backend with a new, empty database in a Postgres of its own, for several PowerDNS. */
export async function makeSharedPostgres(): Promise<{ settings: string[]; url: string; drop: () => Promise<void> }> {
  const server = await PostgresServer.start()
  await server.ask('create database powerdns', 'postgres')
  await server.ask(readFileSync(POSTGRES_SCHEMA, 'utf8') + STATISTICS, 'powerdns')
  const settings = [
    'launch=gpgsql',
    `gpgsql-host=${server.address}`,
    'gpgsql-dbname=powerdns',
    'gpgsql-user=zoneplane',
    'gpgsql-dnssec=yes',
  ]
  return { settings, url: server.url.replace('/zoneplane?', '/powerdns?'), drop: () => server.drop() }
}

/** The tables of PowerDNS' PostgreSQL backend. */
export const POSTGRES_SCHEMA = '/usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql'

/** Statistics as in a database with many zones: without them, the rectification of a large zone takes minutes. */
const STATISTICS = `
  insert into domains (id, name, type) select -n, n || '.invalid', 'NATIVE' from generate_series(1, 100) n;
  insert into records (domain_id, name, type, content)
    select -n % 100 - 1, n || '.' || n % 100 + 1 || '.invalid', 'A', '192.0.2.1' from generate_series(1, 3000) n;
  analyze domains, records;
  delete from domains;`
