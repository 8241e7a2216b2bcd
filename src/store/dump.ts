import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StartError } from '../errors.ts'
import { postgresPrograms } from '../installation/postgres-programs.ts'
import { type Db, one, query } from './database.ts'

// pg_dump and pg_restore, in the custom format.

/** The numbers of rows by table, as in `public.domains`. */
export type Counts = Map<string, number>

/** Counts the other sessions in the database. */
export async function otherSessions(db: Db): Promise<number> {
  // Postgres' own processes have no user.
  const sql = `select count(*) as n from pg_stat_activity
    where datname = current_database() and usename is not null and pid <> pg_backend_pid()`
  return (await one<{ n: number }>(db, sql)).n
}

/** Returns the names of the tables whose rows are in a dump, without unlogged ones. */
export async function tables(db: Db): Promise<string[]> {
  const sql = `select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'r' and relpersistence = 'p' and nspname <> 'information_schema' and nspname !~ '^pg_' order by 1`
  return (await query<{ name: string }>(db, sql)).map(({ name }) => name)
}

/** Exports a snapshot, which others can use while the transaction lasts, and counts the rows in it. */
export async function exportSnapshot(trx: Db, counted: string[]): Promise<{ snapshot: string; counts: Counts }> {
  // One statement sees one snapshot.
  const counts = counted.map((table) => `(select count(*) from ${table})`)
  const sql = `select pg_export_snapshot() as snapshot, cast(array[${counts.join()}] as bigint[]) as counts`
  const row = await one<{ snapshot: string; counts: (number | string)[] }>(trx, sql)
  return { snapshot: row.snapshot, counts: new Map(counted.map((table, i) => [table, Number(row.counts[i])])) }
}

/**
 * Writes the database as it is in the snapshot to an open file.
 * @param leftOut tables whose rows are left out
 * @throws StartError if pg_dump is missing, too old or fails, or the signal aborts
 */
export async function dump(
  db: Db,
  url: string,
  { file, snapshot, leftOut, signal }: { file: number; snapshot: string; leftOut: string[]; signal: AbortSignal },
): Promise<void> {
  const { program, major, server } = await programFor(db, 'pg_dump')
  if (major < server) {
    throw new StartError(
      `pg_dump of PostgreSQL ${major} cannot read the database of a PostgreSQL ${server}: install postgresql-client-${server}`,
    )
  }
  const { place, env } = connectionOf(url)
  const what = ['--no-owner', '--no-acl', '--no-unlogged-table-data', `--snapshot=${snapshot}`]
  const args = ['--format=custom', ...what, ...leftOut.map((name) => `--exclude-table-data=${name}`), place]
  const child = spawn(program, args, { env, stdio: ['ignore', file, 'pipe'], signal })
  await outcome(child, 'pg_dump')
}

/**
 * Reads all rows of a dump, and counts them.
 * @param visit gets the rows of some tables, by column, in the text format of COPY; keyed by the names of the tables
 * @throws StartError if the file is damaged
 */
export async function readDump(
  db: Db,
  file: string,
  visit: Record<string, (row: Record<string, string>) => void>,
  signal?: AbortSignal,
): Promise<Counts> {
  const { program } = await programFor(db, 'pg_restore')
  const args = ['--data-only', '--file=-', resolve(file)]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal })
  const counts: Counts = new Map()
  let table: string | undefined
  let columns: string[] = []
  const read = (line: string) => {
    const [, opened, list] = table === undefined ? (/^COPY (\S+) \((.*)\) FROM stdin;$/.exec(line) ?? []) : []
    if (opened !== undefined) {
      table = opened
      columns = list!.split(', ')
      counts.set(table, 0)
    } else if (line === '\\.') table = undefined
    else if (table !== undefined) {
      counts.set(table, counts.get(table)! + 1)
      const visitRow = visit[table]
      if (visitRow === undefined) return
      const values = line.split('\t')
      visitRow(Object.fromEntries(columns.map((column, i) => [column, values[i]!])))
    }
  }
  // Rows that are only counted need no more than the three octets that distinguish them from the end.
  const length = () => (table === undefined || table in visit ? Infinity : 3)
  await Promise.all([readLines(child.stdout, length, read), outcome(child, 'pg_restore')])
  return counts
}

/** Reads lines, some of which may be too long for a string. @param length the needed length of the next line */
async function readLines(stream: Readable, length: () => number, read: (line: string) => void): Promise<void> {
  let line = ''
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf('\n', start)
      const end = newline === -1 ? chunk.length : newline
      line += chunk.toString('latin1', start, Math.min(end, start + length() - line.length))
      if (newline !== -1) {
        read(line)
        line = ''
      }
      start = end + 1
    }
  }
}

/**
 * Restores a dump into an empty database, all or nothing. If this process dies, nothing is restored.
 * @throws StartError if pg_restore is missing or fails
 */
export async function load(db: Db, url: string, file: string): Promise<void> {
  const { program } = await programFor(db, 'pg_restore')
  const { place, env } = connectionOf(url)
  const args = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-acl', `--dbname=${place}`]
  const child = spawn(program, args, { env, stdio: ['pipe', 'ignore', 'pipe'] })
  // It reads from this process, so that it does not go on without it. If it ends early, its exit code is reported.
  const feeding = pipeline(createReadStream(file), child.stdin).catch(() => undefined)
  await outcome(child, 'pg_restore')
  await feeding
}

/** Finds the program that suits the server: of its version, otherwise the newest. */
async function programFor(db: Db, name: string): Promise<{ program: string; major: number; server: number }> {
  const { version } = await one<{ version: string }>(db, `select current_setting('server_version_num') as version`)
  const server = Math.floor(Number(version) / 10_000)
  const all = postgresPrograms([name])
  const found = all.find(({ major }) => major === server) ?? all[0]
  if (found === undefined) throw new StartError(`${name} is missing: install postgresql-client-${server}`)
  return { program: join(found.folder, name), major: found.major, server }
}

/** Converts a connection for the programs; the password is in their environment, because arguments are public. */
function connectionOf(url: string): { place: string; env: NodeJS.ProcessEnv } {
  const place = new URL(url)
  const password = place.searchParams.get('password') ?? decodeURIComponent(place.password)
  place.password = ''
  place.searchParams.delete('password')
  // A value that only the driver of the service knows.
  if (place.searchParams.get('sslmode') === 'no-verify') place.searchParams.set('sslmode', 'require')
  return { place: place.href, env: { ...process.env, ...(password === '' ? {} : { PGPASSWORD: password }) } }
}

async function outcome(child: ChildProcess, name: string): Promise<void> {
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)))
  const [code, signal] = (await once(child, 'close').catch((error: unknown) => {
    throw (error as Error).name === 'AbortError' ? new StartError('stopped') : error
  })) as [number | null, string | null]
  if (code !== 0) throw new StartError(`${name} has failed: ${said.trim() || (signal ?? code)}`)
}
