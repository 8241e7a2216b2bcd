import type { Pool } from 'pg'
import type { Bell } from './flow/bell.ts'
import type { Budget, Patience } from './flow/budget.ts'
import type { Issuer } from './issuer/issuer.ts'
import type { Log } from './log.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Cluster } from './nameserver/cluster/cluster.ts'
import type { Nameserver, Waits } from './nameserver/nameserver.ts'
import type { Parents } from './nameserver/parents/parents.ts'
import type { Secondaries } from './nameserver/secondaries/secondaries.ts'
import type { Counters } from './service/throttling/counters.ts'
import type { Config } from './settings/config.ts'
import type { Timestamp } from './time.ts'

/** Separate pools of connections to Postgres, so that waiting for one purpose does not hold up the others. */
interface Pools {
  /** The pool for writers, which wait for locks and PowerDNS: if PowerDNS hangs, readers still get connections. */
  writers: Pool
  /**
   * The pool only for marks: a mark is committed while the writer's transaction is open, and transactions that wait for
   * a second connection from the same pool would deadlock.
   */
  marks: Pool
  /** The pool for `counters` in Postgres, with short timeouts, because requests wait for it. */
  counters: Pool
  /** The connection that tells this process of work that others have caused. */
  listener: Pool
}

/** The bounds on work that costs time or memory. */
interface Bounds {
  /** The work that is done one at a time: writes to a zone, and other work by its key. */
  queues: Budget
  /** The changes of rights, by group. */
  rights: Budget
  /** The writes of each account. */
  writers: Budget
  /** The octets of the bodies of running requests, of clients without a token, and of accounts. */
  bodies: { strangers: Budget; accounts: Budget }
  /** The large responses that are in the making or in flight, by the account's group: API tokens, or logins. */
  readers: Budget
  /** The exports, by group. */
  exports: Budget
  /** The requests of each account that wait until a change is served. */
  waiting: Budget
  /** The checks at the parent that somebody has asked for, by group. */
  checks: Budget
  /** The searches for records, by group. */
  searches: Budget
}

/** The parts of a running service, passed as a parameter, never imported. */
export interface System {
  config: Config
  /** The main pool of connections to Postgres. */
  db: Pool
  pools: Pools
  /** The active one of the primaries, whichever it is at each call. */
  nameserver: Nameserver
  /** All nameservers that can get our changes, and the active one. */
  primaries: Cluster
  /** The nameservers that transfer the zones. */
  secondaries: Secondaries
  /** The nameservers that delegate domains to ours. */
  parents: Parents
  /** The issuer of single sign-on; undefined: there is none. */
  issuer: Issuer | undefined
  mailer: Mailer
  /** Rings when there is work, or this process can do more. */
  workBell: Bell
  /** The counters of requests; undefined: throttling is off. */
  counters: Counters | undefined
  bounds: Bounds
  /** Aborts when the process shall stop. */
  stopping: AbortSignal
  /** Shorter in tests. */
  waits: Waits
  /** The id of the request; each request has a copy of the system, with this id, and a log whose lines have it. */
  request?: string
  /** Why the request, or the operator's command, writes, in the words of who sent it (contract §15.14). */
  message?: string | undefined
  /** The account of the request's token, which has made what the request causes; undefined: there is no token. */
  person?: string
  /** The address of the request's client, as the log shows it. */
  address?: string | null
  /** The patience of the request's client. */
  patience?: Patience
  log: Log
  /** The recipient of measurements; undefined: METRICS_PORT is not set. */
  metrics: Metrics | undefined
  /** Reads the clock. */
  now: () => Timestamp
}
