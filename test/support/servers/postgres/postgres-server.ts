import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findPostgres } from '../../../../src/installation/postgres-programs.ts'
import { commandFor, unprivilegedAccount } from '../../../../src/private-servers/account.ts'
import { type Daemon, readLog, startDaemon } from '../../../../src/private-servers/daemon.ts'
import { giveTo, openInstanceFolder, removeInstanceFolder } from '../../../../src/private-servers/instance-folder.ts'
import { identify, isRunning, send } from '../../../../src/private-servers/running.ts'
import { migrate } from '../../../../src/store/migrate.ts'
import { eventually } from '../../eventually.ts'
import { newFolder } from '../folders.ts'
import { ownNetwork } from '../ports.ts'
import { childrenOf } from '../process-tree.ts'

const account = unprivilegedAccount('postgres')

/**
 * Settings with which nothing but a commit writes the log: commits that do not wait for the disk are lost in a crash unless
 * another one has waited for it since.
 */
export const FORGETFUL = {
  wal_writer_delay: '10s',
  autovacuum: 'off',
  bgwriter_lru_maxpages: '0',
  checkpoint_timeout: '1h',
}

/**
 * A crash of Postgres that is ready, so that it takes no time when its moment has come. Until then only commits that wait for
 * the disk write the log, and so save those before them.
 */
export interface Blow {
  strike: () => void
  /** Resolves when Postgres accepts connections again. */
  recovered: () => Promise<void>
}

/** A Postgres of a test's own, at an address of its own: it crashes, or another one replaces it. */
export class PostgresServer {
  readonly address: string
  readonly #folder = newFolder()
  readonly #settings: Record<string, string>
  #daemon: Daemon | undefined

  /** @param settings besides those that all have */
  constructor(address: string, settings: Record<string, string> = {}) {
    this.address = address
    this.#settings = settings
  }

  /** A new server that runs, and has a database with our tables. */
  static async start(settings?: Record<string, string>, address = `${ownNetwork()}1`): Promise<PostgresServer> {
    const server = new PostgresServer(address, settings)
    const options = ['--username=zoneplane', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
    await server.#run('initdb', [`--pgdata=${server.#data}`, ...options])
    await server.open()
    await server.ask('create database zoneplane', 'postgres')
    await migrate(server.url)
    return server
  }

  get url(): string {
    return this.#urlOf('zoneplane')
  }

  #urlOf(database: string): string {
    return `postgres://zoneplane@${this.address}:5432/${database}?sslmode=disable`
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  /** Starts it, and waits until it accepts connections. */
  async open(): Promise<void> {
    openInstanceFolder(this.#folder)
    const settings = {
      listen_addresses: this.address,
      unix_socket_directories: '',
      max_connections: '200',
      fsync: 'off',
      synchronous_commit: 'on',
      jit: 'off',
      ...this.#settings,
    }
    const args = ['-D', this.#data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    this.#daemon = startDaemon(program('postgres'), args, {
      account,
      deathSignal: 'SIGQUIT',
      folder: this.#folder,
      ending: [
        ['SIGQUIT', 5000],
        ['SIGKILL', 5000],
      ],
    })
    await this.#accepting()
  }

  async #accepting(): Promise<void> {
    await eventually(() => {
      if (this.#daemon?.isRunning() !== true) throw new Error(`Postgres has ended:\n${readLog(this.#folder)}`)
      return this.ask('select', 'postgres').then(Boolean, () => false)
    })
  }

  /** Makes it a standby of another server, with a copy of all data. */
  async follow(primary: PostgresServer): Promise<void> {
    await this.kill()
    rmSync(this.#data, { recursive: true, force: true })
    const from = ['--host', primary.address, '--username=zoneplane', '--write-recovery-conf', '--checkpoint=fast']
    await this.#run('pg_basebackup', [`--pgdata=${this.#data}`, ...from, '--no-sync'])
    await this.open()
  }

  /** Makes a standby a primary. */
  async promote(): Promise<void> {
    await this.#run('pg_ctl', ['promote', '--wait', '--pgdata', this.#data])
  }

  /** All its processes, the first one last. */
  get processes(): number[] {
    const { pid } = this.#daemon!
    return [...childrenOf(pid), pid]
  }

  /** Kills it, which may hang, with all its processes. */
  async kill(): Promise<void> {
    if (this.#daemon?.isRunning() !== true) return
    // It starts no process any more that would outlive it: a new server refuses to start beside one.
    send(this.#daemon.pid, 'SIGSTOP')
    const processes = this.processes.flatMap((pid) => identify(pid) ?? [])
    for (const { pid } of processes) send(pid, 'SIGKILL')
    await this.#daemon.exited
    await eventually(() => !processes.some(isRunning))
  }

  /** Lets it hang, with all its connections, as if its machine were cut off. */
  hang(): void {
    for (const pid of this.processes.reverse()) send(pid, 'SIGSTOP')
  }

  /** Makes ready that it is shut down immediately, without writing anything more, and started again. @param absence in milliseconds */
  async readyToShutDown(absence: number): Promise<Blow> {
    const daemon = this.#daemon!
    const writer = await this.#stopLogWriter()
    return {
      strike: () => {
        send(daemon.pid, 'SIGQUIT')
        send(writer, 'SIGKILL')
      },
      recovered: async () => {
        await daemon.exited
        await sleep(absence)
        await this.open()
      },
    }
  }

  /**
   * Makes ready that the process of a session is killed: Postgres ends all others, and recovers, for it might have spoilt
   * what they share.
   * @param choose one of these processes
   */
  async readyToKillSession(choose: (pids: number[]) => number): Promise<Blow> {
    const writer = await this.#stopLogWriter()
    const client = await connect(this.url)
    const ended = new Promise((resolve) => client.once('end', resolve))
    const { rows } = await client.query<{ pid: number; own: boolean }>(
      `select pid, pid = pg_backend_pid() as own from pg_stat_activity where backend_type = 'client backend'`,
    )
    const own = rows.find((row) => row.own)!.pid
    const victim = choose(rows.map(({ pid }) => pid))
    return {
      strike: () => {
        // The session may have ended meanwhile.
        for (const pid of [victim, own, writer]) send(pid, 'SIGKILL')
      },
      recovered: async () => {
        await ended
        await this.#accepting()
      },
    }
  }

  /**
   * Stops the process that writes the log besides commits, as soon as a page is full. The crash kills it before it could go
   * on.
   */
  async #stopLogWriter(): Promise<number> {
    const writer = await this.#logWriter()
    send(writer, 'SIGSTOP')
    return writer
  }

  async #logWriter(): Promise<number> {
    const sql = `select pid from pg_stat_activity where backend_type = 'walwriter'`
    const found: number[] = []
    await eventually(async () => {
      found.push(...((await this.ask(sql)) as { pid: number }[]).map(({ pid }) => pid))
      return found.length > 0
    })
    return found[0]!
  }

  /** The rows of a statement, on a connection of its own. */
  async ask(sql: string, database = 'zoneplane'): Promise<unknown[]> {
    return askPostgres(this.#urlOf(database), sql)
  }

  /** Ends it, and deletes its data. */
  async drop(): Promise<void> {
    await this.kill()
    await removeInstanceFolder(this.#folder)
  }

  /** Runs a program of Postgres as its user. */
  async #run(name: string, args: string[]): Promise<void> {
    openInstanceFolder(this.#folder)
    if (name !== 'pg_ctl') giveTo(account, this.#data)
    const command = commandFor(program(name), args, { account, deathSignal: 'SIGKILL' })
    await promisify(execFile)(command.file, command.args, { ...command.as, cwd: '/' })
  }
}

function program(name: string): string {
  return join(findPostgres()!.folder, name)
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The rows of a statement, on a connection of its own. Errors name the server and the statement. */
export async function askPostgres(url: string, sql: string): Promise<unknown[]> {
  let client: pg.Client | undefined
  try {
    client = await connect(url)
    return (await client.query(sql)).rows as unknown[]
  } catch (error) {
    throw new Error(`${new URL(url).host}: ${sql}: ${(error as Error).message}`, { cause: error })
  } finally {
    await client?.end()
  }
}
