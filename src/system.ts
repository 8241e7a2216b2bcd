import type { Pool } from 'pg'
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Nameserver } from './nameserver/nameserver.ts'
import type { Queues } from './service/queues.ts'
import type { Timestamp } from './time.ts'

/** Everything a running service stands on; handed in, never imported. */
export interface System {
  config: Config
  /** The main pool of connections to Postgres. */
  db: Pool
  /** For transactions that wait for others: when PowerDNS hangs, they may not take the connections of those who read. */
  writersDb: Pool
  /**
   * A small pool for marks alone: a mark is committed while another transaction is open, and transactions that wait
   * for a second connection from one pool would starve each other.
   */
  marksDb: Pool
  /** For what `counters` count in Postgres: it gives up early, because no request may wait for it. */
  countersDb: Pool
  nameserver: Nameserver
  mailer: Mailer
  /** Where requests are counted; undefined: they are not, and all may pass. */
  counters: RateLimiterAbstract | undefined
  /** The queues of this process: of writers, one per zone, and others. */
  queues: Queues
  log: Log
  /** The clock. */
  now: () => Timestamp
}
