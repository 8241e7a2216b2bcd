import type { Pool } from 'pg'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Nameserver } from './nameserver/nameserver.ts'
import type { KnownPolicies } from './service/tokens/authentication.ts'
import type { Counters } from './service/throttling/counters.ts'
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
  nameserver: Nameserver
  mailer: Mailer
  /** Where requests are counted; undefined: they are not, and all may pass. */
  counters: Counters | undefined
  knownPolicies: KnownPolicies
  /** The queues of this process: of writers, one per zone, and others. */
  queues: Queues
  log: Log
  /** The clock. */
  now: () => Timestamp
}
