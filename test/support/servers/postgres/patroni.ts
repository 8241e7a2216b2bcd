import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findPostgres } from '../../../../src/installation/postgres-programs.ts'
import { projectFolder } from '../../../../src/installation/project.ts'
import { unprivilegedAccount } from '../../../../src/private-servers/account.ts'
import { type Daemon, startDaemon } from '../../../../src/private-servers/daemon.ts'
import { giveTo, openInstanceFolder, removeInstanceFolder } from '../../../../src/private-servers/instance-folder.ts'
import { send } from '../../../../src/private-servers/running.ts'
import { migrate } from '../../../../src/store/migrate.ts'
import { eventually } from '../../eventually.ts'
import { newFolder } from '../folders.ts'
import { childrenOf } from '../process-tree.ts'
import { installed } from '../programs.ts'
import type { Database } from './databases.ts'
import { type Balancer, startPostgresHaproxy } from './haproxy.ts'

/** What becomes of a machine. */
export type Loss = 'killed' | 'hanging' | 'without Patroni'

/** A machine with etcd, Patroni and the Postgres that Patroni starts. */
interface Member {
  name: string
  address: string
  etcd: { folder: string; daemon?: Daemon }
  patroni: { folder: string; daemon?: Daemon }
}

/** What Patroni says of its Postgres. */
interface Status {
  state: string
  role: string
  timeline: number
  sync_standby?: boolean
}

const account = unprivilegedAccount('postgres')

/** Three machines, and HAProxy, as docs/deployment.md describes them, with other addresses, folders and passwords. */
export class PatroniCluster implements Database {
  readonly #network: string
  readonly #members: Member[]
  readonly #passwords = new Map<string, string>()
  readonly #haproxy: Balancer

  private constructor(network: string, haproxy: Balancer) {
    this.#network = network
    this.#haproxy = haproxy
    this.#members = [1, 2, 3].map((i) => ({
      name: `pg${i}`,
      address: `${network}2${i}`,
      etcd: { folder: newFolder() },
      patroni: { folder: newFolder() },
    }))
  }

  /** @param network the beginning of all addresses: HAProxy has number 20, the machines 21 to 23 */
  static async start(network: string): Promise<PatroniCluster> {
    const cluster = new PatroniCluster(network, await startPostgresHaproxy(network))
    for (const member of cluster.#members) cluster.#startEtcd(member)
    for (const member of cluster.#members) cluster.#startPatroni(member)
    await cluster.healthy()
    const password = cluster.#password('PASSWORD')
    await cluster.#ask(`create role zoneplane login password '${password}'`)
    await cluster.#ask('create database zoneplane owner zoneplane')
    await cluster.#haproxy.sendsTo(await cluster.leader())
    await migrate(cluster.url)
    return cluster
  }

  /** The database `zoneplane`, with our tables, at HAProxy. */
  get url(): string {
    return `postgres://zoneplane:${this.#password('PASSWORD')}@${this.#network}20/zoneplane`
  }

  /** The name of the leader, once there is one that is none of `others`. */
  async leader(...others: string[]): Promise<string> {
    let found: Member | undefined
    await eventually(async () => {
      const states = await Promise.all(this.#members.map(statusOf))
      found = this.#members.find(
        ({ name }, i) => states[i]?.role === 'master' && states[i].state === 'running' && !others.includes(name),
      )
      return found !== undefined
    })
    return found!.name
  }

  /** The names of all but this one. */
  others(name: string): string[] {
    return this.#members.map((each) => each.name).filter((each) => each !== name)
  }

  /** Waits until all members run, follow the leader, and one of them is its synchronous standby. */
  async healthy(): Promise<void> {
    await eventually(async () => {
      return areHealthy(await Promise.all(this.#members.map(statusOf)))
    }).catch((error: unknown) => {
      throw new Error(this.#members.map(({ patroni }) => logOf(patroni.folder)).join('\n'), { cause: error })
    })
  }

  /** Kills a machine's servers; or lets them hang, as if it were cut off; or kills Patroni alone, and Postgres goes on. */
  async lose(name: string, how: Loss): Promise<void> {
    const { etcd, patroni } = this.#member(name)
    const processes = [patroni.daemon!.pid, ...(how === 'without Patroni' ? [] : postgresOf(patroni.folder))]
    if (how !== 'without Patroni') processes.push(etcd.daemon!.pid)
    for (const pid of processes) send(pid, how === 'hanging' ? 'SIGSTOP' : 'SIGKILL')
    if (how === 'hanging') return
    await patroni.daemon!.exited
    if (how === 'killed') await etcd.daemon!.exited
  }

  /** Starts what was killed, or lets go on what hangs. */
  bring(name: string): void {
    const member = this.#member(name)
    const { etcd, patroni } = member
    for (const pid of [...postgresOf(patroni.folder), patroni.daemon!.pid, etcd.daemon!.pid]) send(pid, 'SIGCONT')
    if (!etcd.daemon!.isRunning()) this.#startEtcd(member)
    if (!patroni.daemon!.isRunning()) this.#startPatroni(member)
  }

  /** Kills etcd everywhere. */
  async loseEtcd(): Promise<void> {
    for (const { etcd } of this.#members) {
      send(etcd.daemon!.pid, 'SIGKILL')
      await etcd.daemon!.exited
    }
  }

  #startEtcd({ name, address, etcd }: Member): void {
    openInstanceFolder(etcd.folder)
    const data = join(etcd.folder, 'data')
    giveTo(account, data)
    const settings = this.#example('etcd.env')
      .replace(/^(?!ETCD_INITIAL_CLUSTER=).*$/gm, (line) =>
        line.replace(`${this.#network}21`, address).replace('=pg1', `=${name}`),
      )
      .replace('/var/lib/etcd/zoneplane', join(data, 'zoneplane'))
    const assignments = settings.split('\n').filter((line) => line.startsWith('ETCD_'))
    etcd.daemon = startDaemon('/usr/bin/env', [...assignments, installed('etcd')], {
      account,
      deathSignal: 'SIGKILL',
      folder: etcd.folder,
      ending: [['SIGKILL', 5000]],
    })
  }

  #startPatroni({ name, address, patroni }: Member): void {
    openInstanceFolder(patroni.folder)
    const place = placeOf(patroni.folder)
    giveTo(account, place)
    const text = this.#example('patroni.yml')
      .replace('name: pg1', `name: ${name}`)
      .replace(/(listen|connect_address): \S+:/g, `$1: ${address}:`)
      .replace('/var/lib/postgresql/15/zoneplane', join(place, 'data'))
      .replace('/usr/lib/postgresql/15/bin', findPostgres()!.folder)
      .replace('/var/lib/postgresql/.pgpass-patroni', join(place, 'pgpass'))
      .replace('/var/run/postgresql', place)
      .replace(/PASSWORD-OF-[A-Z-]+/g, (what) => this.#password(what))
    const file = join(place, 'config.yml')
    writeFileSync(file, text)
    patroni.daemon = startDaemon(installed('patroni'), [file], {
      account,
      // Then it stops Postgres, too.
      deathSignal: 'SIGTERM',
      folder: patroni.folder,
      ending: [
        ['SIGTERM', 30_000],
        ['SIGKILL', 5000],
      ],
    })
  }

  #example(name: string): string {
    return readFileSync(join(projectFolder(), 'docs', 'examples', name), 'utf8')
      .replaceAll('10.0.0.0/24', '127.0.0.0/8')
      .replaceAll('10.0.0.', this.#network)
  }

  /** A password that replaces this text. */
  #password(what: string): string {
    const known = this.#passwords.get(what) ?? randomBytes(12).toString('hex')
    this.#passwords.set(what, known)
    return known
  }

  #member(name: string): Member {
    return this.#members.find((each) => each.name === name)!
  }

  /** Asks the leader as superuser. */
  async #ask(sql: string): Promise<void> {
    const { address } = this.#member(await this.leader())
    const client = new pg.Client(`postgres://postgres:${this.#password('PASSWORD-OF-POSTGRES')}@${address}/postgres`)
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }

  /** Stops all. */
  async drop(): Promise<void> {
    await this.#haproxy.stop()
    for (const { etcd, patroni } of this.#members) {
      for (const pid of [patroni.daemon!.pid, ...postgresOf(patroni.folder), etcd.daemon!.pid]) send(pid, 'SIGKILL')
    }
    for (const { etcd, patroni } of this.#members) {
      await removeInstanceFolder(etcd.folder)
      await removeInstanceFolder(patroni.folder)
    }
  }
}

/** Whether all run, follow the leader, and one of them is its synchronous standby. */
export function areHealthy(all: (Status | undefined)[]): boolean {
  const leader = all.find((each) => each?.role === 'master')
  return (
    all.every((each) => each?.state === 'running' && each.timeline === leader?.timeline) &&
    all.some((each) => each?.sync_standby === true)
  )
}

/** What Patroni at an address says; undefined: nothing. */
export async function statusOf({ address }: { address: string }): Promise<Status | undefined> {
  const signal = AbortSignal.timeout(2_000)
  const answer = await fetch(`http://${address}:8008/patroni`, { signal }).catch(() => undefined)
  return (await answer?.json().catch(() => undefined)) as Status | undefined
}

/** Where Postgres has its folder. */
function placeOf(folder: string): string {
  return join(folder, 'postgres')
}

/** The processes of the Postgres that Patroni has started. */
function postgresOf(folder: string): number[] {
  try {
    const [first] = readFileSync(join(placeOf(folder), 'data', 'postmaster.pid'), 'utf8').split('\n')
    return [...childrenOf(Number(first)), Number(first)]
  } catch {
    return []
  }
}

function logOf(folder: string): string {
  return readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(-30).join('\n')
}
