import { send } from '../../../../src/private-servers/running.ts'
import { eventually, eventuallyIs } from '../../eventually.ts'
import { ownNetwork } from '../ports.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'
import { type Blow, PostgresServer } from './postgres-server.ts'

/** A primary and a standby, which change places, and an address that leads to the primary. */
export class PostgresPair {
  /** The primary first. */
  readonly #servers: [PostgresServer, PostgresServer]
  readonly #proxy: PostgresProxy

  /** Whether the primary waits for its standby at each commit. */
  #isSynchronous = false

  private constructor(servers: [PostgresServer, PostgresServer], proxy: PostgresProxy) {
    this.#servers = servers
    this.#proxy = proxy
  }

  static async start({ isSynchronous }: { isSynchronous: boolean }): Promise<PostgresPair> {
    const pair = await PostgresPair.alone()
    await pair.addStandby(isSynchronous)
    return pair
  }

  /**
   * A primary whose standby is added later.
   * @param settings of both servers, besides those that all have
   */
  static async alone(settings?: Record<string, string>): Promise<PostgresPair> {
    const network = ownNetwork()
    const primary = await PostgresServer.start(settings, `${network}1`)
    const proxy = await startPostgresProxy(primary.url)
    return new PostgresPair([primary, new PostgresServer(`${network}2`, settings)], proxy)
  }

  /** Makes the second server a standby of the first, with a copy of all data. */
  async addStandby(isSynchronous = this.#isSynchronous): Promise<void> {
    this.#isSynchronous = isSynchronous
    const [primary, standby] = this.#servers
    await standby.follow(primary)
    // As Patroni does: only where there is a standby, so that a server that was promoted need not wait for one.
    if (isSynchronous) await primary.ask(`alter system set synchronous_standby_names = '*'`)
    await primary.ask('select pg_reload_conf()')
    const state = isSynchronous ? 'sync' : 'async'
    const sql = `select from pg_stat_replication where state = 'streaming' and sync_state = '${state}'`
    await eventuallyIs(async () => (await primary.ask(sql)).length, 1)
  }

  /** Kills the primary; or lets it hang, with all its connections, as if its machine were cut off. */
  async lose(how: 'killed' | 'hanging'): Promise<void> {
    const [primary] = this.#servers
    if (how === 'hanging') primary.hang()
    else await primary.kill()
  }

  /** Makes ready that the primary is killed, and the standby promoted. */
  readyToFailOver(): Blow {
    const [primary] = this.#servers
    const { processes } = primary
    return {
      strike: () => {
        for (const pid of processes) send(pid, 'SIGKILL')
      },
      recovered: async () => {
        // Those that began meanwhile.
        await primary.kill()
        await this.promote()
      },
    }
  }

  /** Waits until the standby has all that was committed. */
  async awaitStandby(): Promise<void> {
    const sql = 'select from pg_stat_replication where flush_lsn >= pg_current_wal_flush_lsn()'
    await eventuallyIs(async () => (await this.#servers[0].ask(sql)).length, 1)
  }

  /** Keeps the standby from getting what is committed from now on. */
  async holdUpStandby(): Promise<void> {
    await this.#signalSenders('SIGSTOP')
  }

  /** Lets it get all that again. */
  async letStandbyGoOn(): Promise<void> {
    await this.#signalSenders('SIGCONT')
  }

  async #signalSenders(signal: NodeJS.Signals): Promise<void> {
    const senders = (await this.primary.ask('select pid from pg_stat_replication')) as { pid: number }[]
    for (const { pid } of senders) process.kill(pid, signal)
  }

  /** Waits until a commit waits for the standby to confirm it. */
  async awaitUnconfirmed(): Promise<void> {
    const sql = `select query, wait_event from pg_stat_activity where backend_type = 'client backend'`
    await eventually(
      () => this.primary.ask(sql) as Promise<{ wait_event: string | null }[]>,
      (sessions) => sessions.some((session) => session.wait_event === 'SyncRep'),
    )
  }

  get primary(): PostgresServer {
    return this.#servers[0]
  }

  /** Makes the standby the primary. Whether the former one runs, nobody asks, and connections to it stay. */
  async promote(): Promise<void> {
    await this.#servers[1].promote()
    this.#servers.reverse()
    this.#proxy.leadTo(this.primary.url)
  }

  /** Kills the former primary. */
  async loseFormer(): Promise<void> {
    await this.#servers[1].kill()
  }

  /** Kills the former primary, and starts it as it was: it accepts writes. */
  async restartFormer(): Promise<void> {
    await this.loseFormer()
    await this.#servers[1].open()
  }

  /** The database `zoneplane`, with our tables, at the address that leads to the primary. */
  get url(): string {
    return this.#proxy.url
  }

  /** The URLs of the primary alone, and of the former one. */
  get urls(): { primary: string; former: string } {
    const [primary, former] = this.#servers.map(({ url }) => url) as [string, string]
    return { primary, former }
  }

  /** Stops all. */
  async drop(): Promise<void> {
    await this.#proxy.close()
    for (const server of this.#servers) await server.drop()
  }
}
