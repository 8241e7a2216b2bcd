import { type BackgroundTask, keepRunning } from '../../flow/background.ts'
import { watchFailures } from '../../store/connections/failures.ts'
import * as delegations from '../../store/domains/delegations.ts'
import * as rollovers from '../../store/domains/rollovers.ts'
import { estimates } from '../../store/estimates.ts'
import { latestMigration } from '../../store/migrate.ts'
import { lags } from '../../store/standbys.ts'
import * as work from '../../store/work.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { STATES } from '../delegation/judgement.ts'
import { PHASES } from '../rollovers/phases.ts'
import { checkHealth } from './health.ts'

/** Milliseconds between two readings of the state of Postgres and PowerDNS for the metrics. */
export const MEASURING_PAUSE = 15_000

type Metrics = NonNullable<System['metrics']>

/** The tables whose approximate sizes the metrics report. */
const TABLES = {
  accounts: 'zoneplane_accounts',
  tokens: 'zoneplane_tokens',
  rrsets: 'zoneplane_rrsets',
  history: 'zoneplane_history_entries',
} as const

/** Measures the connections to Postgres and PowerDNS: a scrape only looks, and waits for neither. */
export function watch({ db, pools: others, nameserver }: System, metrics: Metrics): void {
  const pools = Object.entries({ main: db, ...others })
  for (const [pool, connections] of pools) {
    watchFailures(connections, (kind) => {
      metrics.count('zoneplane_postgres_errors_total', { pool, kind })
    })
  }
  metrics.onScrape(() => {
    for (const [pool, { totalCount, idleCount, waitingCount }] of pools) {
      metrics.set('zoneplane_postgres_connections', { pool, state: 'used' }, totalCount - idleCount)
      metrics.set('zoneplane_postgres_connections', { pool, state: 'idle' }, idleCount)
      metrics.set('zoneplane_postgres_waiting', { pool }, waitingCount)
    }
    const { open, waiting } = nameserver.load
    metrics.set('zoneplane_powerdns_calls', { state: 'open' }, open)
    metrics.set('zoneplane_powerdns_calls', { state: 'waiting' }, waiting)
  })
}

/**
 * Reads periodically, until stopped, the state of the database for the metrics, and whether the backends answer.
 * @param version of the program
 */
export function measuringTask(system: System, metrics: Metrics, version: string): BackgroundTask {
  return keepRunning(system.log, 'measuring', () => measure(system, metrics, version), MEASURING_PAUSE)
}

/** Does one such reading. Only the count of delegations costs more for more domains, about 0.2 µs each. */
export async function measure(system: System, metrics: Metrics, version: string): Promise<void> {
  await measureBackends(system, metrics)
  await measureDatabase(system, metrics, version)
  if (system.primaries.standbys.length === 0) return
  for (const [primary, { behind, age }] of await lags(system.db)) {
    metrics.set('zoneplane_standby_zones_behind', { primary }, behind)
    metrics.set('zoneplane_standby_lag_seconds', { primary }, age)
  }
}

async function measureBackends(system: System, metrics: Metrics): Promise<void> {
  const { checks = {} } = await checkHealth(system)
  for (const [backend, outcome] of Object.entries(checks)) {
    metrics.set('zoneplane_backend_up', { backend }, outcome === 'ok' ? 1 : 0)
  }
}

async function measureDatabase({ db }: System, metrics: Metrics, version: string): Promise<void> {
  const [marked, queued, rows, counts, rolling, migration] = await Promise.all([
    marks.state(db),
    work.state(db, 'mail'),
    estimates(db, Object.keys(TABLES)),
    delegations.countByState(db),
    rollovers.state(db),
    latestMigration(db),
  ])
  metrics.set('zoneplane_info', { version, migration }, 1)
  metrics.set('zoneplane_marks', {}, marked.number)
  metrics.set('zoneplane_oldest_mark_age_seconds', {}, marked.age)
  metrics.set('zoneplane_mails_queued', {}, queued.number)
  metrics.set('zoneplane_oldest_mail_age_seconds', {}, queued.age)
  for (const [table, name] of Object.entries(TABLES)) metrics.set(name, {}, rows.get(table) ?? 0)
  const known = new Map(counts.map(({ state, number }) => [state, number]))
  for (const state of Object.keys(STATES)) {
    metrics.set('zoneplane_domains', { delegation: state }, known.get(state) ?? 0)
  }
  for (const phase of PHASES) {
    const { number = 0, age = 0 } = rolling.find((each) => each.phase === phase) ?? {}
    metrics.set('zoneplane_rollovers', { phase }, number)
    metrics.set('zoneplane_oldest_rollover_age_seconds', { phase }, age)
  }
  metrics.set('zoneplane_measured_timestamp_seconds', {}, Date.now() / 1000)
}
