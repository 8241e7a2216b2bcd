import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StartError } from '../errors.ts'
import { findPostgres } from '../installation/postgres-programs.ts'
import { commandFor, requireReach, type RunAs, unprivilegedAccount } from './account.ts'
import { type Daemon, endOrphan, environment, outcome, readLog, startDaemon } from './daemon.ts'
import { giveTo, openInstanceFolder, openSocketFolder } from './instance-folder.ts'
import { end, type Ending, identify } from './running.ts'

/** A running private Postgres. */
export interface Postgres extends Daemon {
  /** Connects to the database `zoneplane` as the superuser `zoneplane`. */
  url: string
}

export interface PostgresOptions {
  /** True if committed data survives a power failure; tests prefer speed. */
  durable: boolean
  progress: (text: string) => void
  /** Called when the first process runs that takes its time. */
  spawned?: () => void
}

// Postgres' shutdown modes: smart (SIGTERM) would wait for clients; fast disconnects them and shuts down cleanly;
// immediate (SIGQUIT) aborts, and the next start recovers.
const ending: Ending = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5000],
  ['SIGKILL', 5000],
]

/**
 * Starts a private Postgres whose database is in `folder`, and initialises it the first time. It listens only on a unix
 * socket, in a folder that only root and the user that runs Postgres may enter; so it needs no password.
 */
export async function startPostgres(folder: string, options: PostgresOptions): Promise<Postgres> {
  const { durable, progress, spawned = () => undefined } = options
  openInstanceFolder(folder)
  await endLeftOver(folder)
  const data = join(folder, 'data')
  const programs = findPostgres(versionOf(data))
  if (!programs) throw new StartError('PostgreSQL 15 or newer is missing.')
  const account = unprivilegedAccount('postgres')
  requireReach(account, [folder])
  const run: RunAs = { account, deathSignal: durable ? 'SIGINT' : 'SIGQUIT' }
  if (!existsSync(data)) {
    progress(`Postgres: making a database in ${folder} (PostgreSQL ${programs.major})`)
    const initialising = initialise(join(programs.folder, 'initdb'), data, durable, run)
    spawned()
    await initialising
  }
  giveTo(account, data)
  const socket = openSocketFolder(folder, account)
  progress('Postgres: starting')
  const daemon = await startWithDatabase(folder, socket, () => {
    const program = join(programs.folder, 'postgres')
    const started = startDaemon(program, settings(data, socket, durable), { ...run, folder, ending })
    spawned()
    return started
  })
  return {
    ...daemon,
    url: urlOf(socket, 'zoneplane'),
    stop: async () => {
      await daemon.stop()
      rmSync(socket, { recursive: true, force: true })
    },
  }
}

/** Runs initdb in a folder beside the final one, so that an interrupted run leaves nothing that looks complete. */
async function initialise(initdb: string, data: string, durable: boolean, run: RunAs): Promise<void> {
  const unfinished = `${data}.new`
  rmSync(unfinished, { recursive: true, force: true })
  giveTo(run.account, unfinished)
  const args = ['--pgdata', unfinished, '--username=zoneplane', '--auth=trust', '--encoding=UTF8', '--locale=C']
  // Small segments of the log: such a database is often copied.
  const quick = durable ? [] : ['--no-sync', '--wal-segsize=1']
  const command = commandFor(initdb, [...args, ...quick], { ...run, deathSignal: 'SIGKILL' })
  const child = spawn(command.file, command.args, { ...command.as, cwd: '/', detached: true, env: environment() })
  const { code, output } = await outcome(child)
  if (code !== 0) throw new StartError(`initdb cannot create a database in ${data}:\n${output}`)
  renameSync(unfinished, data)
}

function settings(data: string, socket: string, durable: boolean): string[] {
  const onOff = durable ? 'on' : 'off'
  const values = {
    listen_addresses: '',
    unix_socket_directories: socket,
    max_connections: '200',
    fsync: onOff,
    synchronous_commit: onOff,
    full_page_writes: onOff,
    // All queries are short, so compiling them never pays.
    jit: 'off',
  }
  return ['-D', data, ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** Starts Postgres and creates the database `zoneplane` if it does not exist. */
async function startWithDatabase(folder: string, socket: string, start: () => Daemon): Promise<Daemon> {
  const until = Date.now() + 120_000
  for (;;) {
    const daemon = start()
    if (await hasDatabase(daemon, socket, until)) return daemon
    await daemon.stop()
    const log = readLog(folder, 8)
    // The workers of a killed postmaster need a moment to exit.
    if (!/is still in use|already exists/.test(log) || Date.now() > until) {
      throw new StartError(`Postgres does not start in ${folder}:\n${log}`)
    }
    await sleep(200)
  }
}

/**
 * Connects to the database `zoneplane` as soon as Postgres accepts it (it may have to recover first), and creates it if
 * it does not exist. Returns false if Postgres has exited or never accepts it.
 */
async function hasDatabase(daemon: Daemon, socket: string, until: number): Promise<boolean> {
  while (daemon.isRunning() && Date.now() < until) {
    try {
      await ask(socket, 'zoneplane', 'select')
      return true
    } catch (error) {
      if ((error as pg.DatabaseError).code === NO_DATABASE)
        await ask(socket, 'template1', 'create database zoneplane template template0')
      else await sleep(20)
    }
  }
  return false
}

/** Postgres' code for a database that does not exist. */
const NO_DATABASE = '3D000'

async function ask(socket: string, database: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(socket, database), connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Returns a URL that sets all that `pg` would otherwise take from PG… variables; "localhost" only makes it valid. */
function urlOf(socket: string, database: string): string {
  const place = new URLSearchParams({ host: socket, port: '5432', sslmode: 'disable' })
  return `postgres://zoneplane@localhost/${database}?${place.toString()}`
}

/** Reads the major version that created the data; undefined without data. */
function versionOf(data: string): number | undefined {
  return existsSync(data) ? Number(readFileSync(join(data, 'PG_VERSION'), 'utf8')) : undefined
}

/** Ends a Postgres that an earlier start in this folder left running. */
async function endLeftOver(folder: string): Promise<void> {
  await endOrphan(folder, ending)
  const pidFile = join(folder, 'data', 'postmaster.pid')
  const pid = existsSync(pidFile) ? parseInt(readFileSync(pidFile, 'utf8'), 10) : NaN
  const running = Number.isNaN(pid) ? undefined : identify(pid)
  if (!running) return
  if (worksIn(pid, join(folder, 'data'))) await end(running, ending)
  // The id now belongs to another program, which Postgres would take for a running postmaster.
  else rmSync(pidFile)
}

function worksIn(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false
  }
}
