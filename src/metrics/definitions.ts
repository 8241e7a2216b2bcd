import { SCOPES } from '../limits.ts'

interface Definition {
  kind: 'counter' | 'gauge' | 'histogram'
  help: string
  /** The initial values by label. The others come from our code and settings, never from users. */
  labels: Record<string, readonly string[]>
}

const POOLS = ['main', 'writers', 'marks', 'counters'] as const

/** All metrics of our own, by the name that Prometheus sees; durations are in seconds (docs/operators/monitor.md). */
export const METRICS = {
  zoneplane_info: {
    kind: 'gauge',
    help: 'Always 1; the labels name the version and the latest migration of the database.',
    labels: { version: [], migration: [] },
  },
  zoneplane_http_requests_total: {
    kind: 'counter',
    help: 'Answered requests.',
    labels: { route: [], method: [], status: [] },
  },
  zoneplane_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the header of a request to its answer.',
    labels: { route: [], method: [] },
  },
  zoneplane_throttled_requests_total: {
    kind: 'counter',
    help: 'Requests that were refused with 429, by the scope whose rate was exceeded; bodies and passwords are limited at a time.',
    labels: { scope: [...SCOPES, 'bodies', 'passwords'] },
  },
  zoneplane_events_total: {
    kind: 'counter',
    help: 'Events of accounts and tokens, as in the log.',
    labels: { event: ['login_failed', 'code_failed'] },
  },
  zoneplane_powerdns_calls_total: {
    kind: 'counter',
    help: 'Calls of the API of PowerDNS by their outcome: done, a kind of failure, or lease_lost.',
    labels: { call: [], outcome: [] },
  },
  zoneplane_powerdns_call_duration_seconds: {
    kind: 'histogram',
    help: 'Time of calls of PowerDNS, with that for which they waited for a connection.',
    labels: { call: [] },
  },
  zoneplane_powerdns_wait_duration_seconds: {
    kind: 'histogram',
    help: 'Time for which calls of PowerDNS waited for a connection.',
    labels: {},
  },
  zoneplane_powerdns_calls: {
    kind: 'gauge',
    help: 'Calls of PowerDNS that are open, and that wait for a connection.',
    labels: { state: ['open', 'waiting'] },
  },
  zoneplane_postgres_connections: {
    kind: 'gauge',
    help: 'Connections to Postgres.',
    labels: { pool: POOLS, state: ['used', 'idle'] },
  },
  zoneplane_postgres_waiting: {
    kind: 'gauge',
    help: 'Statements and transactions that wait for a connection to Postgres.',
    labels: { pool: POOLS },
  },
  zoneplane_postgres_errors_total: {
    kind: 'counter',
    help: 'Statements and connections that failed: Postgres unavailable, a lock not got in time, a constraint, other.',
    labels: { pool: POOLS, kind: ['unavailable', 'lock', 'constraint', 'other'] },
  },
  zoneplane_write_step_duration_seconds: {
    kind: 'histogram',
    help: 'Time that writes spend in each step (docs/design/architecture.md).',
    labels: { step: ['turn', 'lock', 'plan', 'mark', 'push', 'commit'] },
  },
  zoneplane_marks: { kind: 'gauge', help: 'Zones that may differ at PowerDNS.', labels: {} },
  zoneplane_oldest_mark_age_seconds: { kind: 'gauge', help: 'Age of the oldest mark; 0 if there is none.', labels: {} },
  zoneplane_repairs_total: { kind: 'counter', help: 'Zones that this process has repaired.', labels: {} },
  zoneplane_repair_failures_total: {
    kind: 'counter',
    help: 'Repairs that failed: by the kind of failure of PowerDNS, or because of Postgres, or other.',
    labels: { kind: ['refused', 'conflict', 'absent', 'unreachable', 'failed', 'unknown', 'postgres', 'other'] },
  },
  zoneplane_drifted_zones_total: {
    kind: 'counter',
    help: 'Zones that differed from Postgres without a mark: others have changed them, or a request came late.',
    labels: { found_by: ['audit', 'write'] },
  },
  zoneplane_backend_up: {
    kind: 'gauge',
    help: 'Whether a part of /readyz is ok: 1 or 0.',
    labels: { backend: ['database', 'migrations', 'powerdns'] },
  },
  zoneplane_measured_timestamp_seconds: {
    kind: 'gauge',
    help: 'UNIX time at which what follows, and the marks, were last read from Postgres.',
    labels: {},
  },
  zoneplane_accounts: { kind: 'gauge', help: 'About how many accounts there are.', labels: {} },
  zoneplane_tokens: { kind: 'gauge', help: 'About how many tokens there are.', labels: {} },
  zoneplane_domains: { kind: 'gauge', help: 'About how many domains there are.', labels: {} },
  zoneplane_rrsets: { kind: 'gauge', help: 'About how many RRsets there are.', labels: {} },
  zoneplane_history_entries: { kind: 'gauge', help: 'About how many entries the history has.', labels: {} },
  zoneplane_mails_queued: { kind: 'gauge', help: 'Mails that wait to be sent.', labels: {} },
  zoneplane_oldest_mail_age_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest of them; 0 if there is none.',
    labels: {},
  },
  zoneplane_mails_total: {
    kind: 'counter',
    help: 'Attempts to send a mail by their outcome.',
    labels: { outcome: ['sent', 'postponed', 'given_up'] },
  },
  zoneplane_secondary_answers_total: {
    kind: 'counter',
    help: 'Answers of secondaries to the sweep: they serve the current version of a zone, are behind, or do not answer.',
    labels: { secondary: [], answer: ['current', 'behind', 'none'] },
  },
} as const satisfies Record<string, Definition>

/** The bounds of all histograms. */
export const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type Name = keyof typeof METRICS

/** The names of the metrics of a kind. */
export type NameOf<Kind extends Definition['kind']> = {
  [Each in Name]: (typeof METRICS)[Each]['kind'] extends Kind ? Each : never
}[Name]

/** The labels of a metric. */
export type LabelsOf<Each extends Name> = Record<keyof (typeof METRICS)[Each]['labels'], string>
