import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { commandFor, unprivilegedAccount } from '../../../dev/account.ts'
import { startDaemon, type Daemon } from '../../../dev/daemon.ts'
import { giveTo, openInstanceFolder, removeInstanceFolder } from '../../../dev/instance-folder.ts'
import { findPostgres } from '../../../dev/postgres-programs.ts'
import { send } from '../../../dev/running.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { eventually } from '../eventually.ts'
import { newFolder } from './folders.ts'
import { ownNetwork } from './ports.ts'
import { childrenOf } from './process-tree.ts'

const account = unprivilegedAccount('postgres')

/** A server of the pair. */
interface Node {
  address: string
  folder: string
  daemon: Daemon | undefined
}

/** A primary and a standby, which change places. */
export class PostgresPair {
  /** The database `zoneplane`, with our tables. */
  readonly url: string
  readonly #isSynchronous: boolean
  /** The primary first. */
  readonly #nodes: [Node, Node]

  private constructor(isSynchronous: boolean) {
    const network = ownNetwork()
    this.#isSynchronous = isSynchronous
    const nodes = [1, 2].map((i) => ({ address: `${network}${i}`, folder: newFolder(), daemon: undefined }))
    this.#nodes = nodes as unknown as [Node, Node]
    const hosts = nodes.map(({ address }) => `${address}:5432`).join()
    this.url = `postgres://zoneplane@${hosts}/zoneplane?target_session_attrs=read-write&sslmode=disable`
  }

  static async start({ isSynchronous }: { isSynchronous: boolean }): Promise<PostgresPair> {
    const pair = new PostgresPair(isSynchronous)
    const [primary] = pair.#nodes
    const options = ['--username=zoneplane', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
    await run(primary, 'initdb', [`--pgdata=${dataOf(primary)}`, ...options])
    await pair.#open(primary)
    await pair.#ask(primary, 'create database zoneplane', 'postgres')
    await migrate(pair.url)
    await pair.addStandby()
    return pair
  }

  /** Makes the second server a standby of the first, with a copy of all data. */
  async addStandby(): Promise<void> {
    const [primary, standby] = this.#nodes
    await end(standby)
    rmSync(dataOf(standby), { recursive: true, force: true })
    const from = ['--host', primary.address, '--username=zoneplane', '--write-recovery-conf', '--checkpoint=fast']
    await run(standby, 'pg_basebackup', [`--pgdata=${dataOf(standby)}`, ...from, '--no-sync'])
    await this.#open(standby)
    // As Patroni does: only where there is a standby, so that a server that was promoted need not wait for one.
    if (this.#isSynchronous) await this.#ask(primary, `alter system set synchronous_standby_names = '*'`)
    await this.#ask(primary, 'select pg_reload_conf()')
    const state = this.#isSynchronous ? 'sync' : 'async'
    const sql = `select from pg_stat_replication where state = 'streaming' and sync_state = '${state}'`
    await eventually(async () => (await this.#ask(primary, sql)).length === 1)
  }

  /** Kills the primary; or lets it hang, with all its connections, as if its machine were cut off. */
  async lose(how: 'killed' | 'hanging'): Promise<void> {
    const { daemon } = this.#nodes[0]
    if (how === 'hanging') {
      for (const pid of [daemon!.pid, ...childrenOf(daemon!.pid)]) send(pid, 'SIGSTOP')
      return
    }
    await end(this.#nodes[0])
  }

  /** Waits until the standby has all that was committed. */
  async awaitStandby(): Promise<void> {
    const sql = 'select from pg_stat_replication where flush_lsn >= pg_current_wal_flush_lsn()'
    await eventually(async () => (await this.#ask(this.#nodes[0], sql)).length === 1)
  }

  /** Keeps the standby from getting what is committed from now on. */
  async holdUpStandby(): Promise<void> {
    const senders = await this.#ask(this.#nodes[0], 'select pid from pg_stat_replication')
    for (const { pid } of senders as { pid: number }[]) process.kill(pid, 'SIGSTOP')
  }

  /** Makes the standby the primary. Whether the former one runs, nobody asks. */
  async promote(): Promise<void> {
    await run(this.#nodes[1], 'pg_ctl', ['promote', '--wait', '--pgdata', dataOf(this.#nodes[1])])
    this.#nodes.reverse()
  }

  /** Kills the former primary, and starts it as it was: it accepts writes. */
  async restartFormer(): Promise<void> {
    await end(this.#nodes[1])
    await this.#open(this.#nodes[1])
  }

  /** The URLs of the primary alone, and of the former one. */
  get urls(): { primary: string; former: string } {
    const [primary, former] = this.#nodes.map((node) => urlOf(node)) as [string, string]
    return { primary, former }
  }

  async #open(node: Node): Promise<void> {
    openInstanceFolder(node.folder)
    const settings = {
      listen_addresses: node.address,
      unix_socket_directories: '',
      max_connections: '200',
      fsync: 'off',
      synchronous_commit: 'on',
      jit: 'off',
    }
    const args = [
      '-D',
      dataOf(node),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]
    node.daemon = startDaemon(program('postgres'), args, {
      account,
      deathSignal: 'SIGQUIT',
      folder: node.folder,
      ending: [
        ['SIGQUIT', 5000],
        ['SIGKILL', 5000],
      ],
    })
    await eventually(() => this.#ask(node, 'select', 'postgres').then(Boolean, () => false), 60_000)
  }

  async #ask(node: Node, sql: string, database = 'zoneplane'): Promise<unknown[]> {
    return askPostgres(urlOf(node, database), sql)
  }

  /** Stops both. */
  async drop(): Promise<void> {
    for (const node of this.#nodes) {
      await end(node)
      await removeInstanceFolder(node.folder)
    }
  }
}

/** Kills a server, which may hang, with all its processes. */
async function end({ daemon }: Node): Promise<void> {
  if (daemon?.isRunning() !== true) return
  for (const pid of [...childrenOf(daemon.pid), daemon.pid]) send(pid, 'SIGKILL')
  await daemon.exited
}

function urlOf({ address }: Node, database = 'zoneplane'): string {
  return `postgres://zoneplane@${address}:5432/${database}?sslmode=disable`
}

function dataOf({ folder }: Node): string {
  return join(folder, 'data')
}

function program(name: string): string {
  return join(findPostgres()!.folder, name)
}

/** Runs a program of Postgres as its user. */
async function run(node: Node, name: string, args: string[]): Promise<void> {
  openInstanceFolder(node.folder)
  if (name !== 'pg_ctl') giveTo(account, dataOf(node))
  const command = commandFor(program(name), args, { account, deathSignal: 'SIGKILL' })
  await promisify(execFile)(command.file, command.args, { ...command.as, cwd: '/' })
}

/** The rows of a statement, on a connection of its own. */
export async function askPostgres(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  return client
    .query(sql)
    .then(({ rows }) => rows as unknown[])
    .finally(() => client.end())
}
