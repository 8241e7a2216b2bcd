import { SCOPES } from '../limits.ts'

/** The initial values by label. The others come from our code and settings, never from users. */
type Labels = Record<string, readonly string[]>

/** Returns a function that defines metrics of a kind. */
function definer<Kind extends 'counter' | 'gauge' | 'histogram'>(kind: Kind) {
  return <L extends Labels>(help: string, labels: L) => ({ kind, help, labels })
}

const counter = definer('counter')
const gauge = definer('gauge')
const histogram = definer('histogram')

const POOLS = ['main', 'writers', 'marks', 'counters', 'listener'] as const

/** All metrics of our own, by the name that Prometheus sees; durations are in seconds (docs/operators/monitor.md). */
export const METRICS = {
  zoneplane_info: gauge('Always 1; the labels name the version and the latest migration of the database.', {
    version: [],
    migration: [],
  }),
  zoneplane_http_requests_total: counter('Answered requests.', { route: [], method: [], status: [] }),
  zoneplane_http_request_duration_seconds: histogram('Time from the header of a request to its answer.', {
    route: [],
    method: [],
  }),
  zoneplane_http_refused_requests_total: counter(
    'Requests that were refused because of their HTTP: invalid, with too large a header, or not complete in time.',
    { reason: ['malformed', 'header_too_large', 'timeout'] },
  ),
  zoneplane_dns_messages_total: counter('Messages at the port of DNS UPDATE, by the code of their answer.', {
    kind: ['update', 'query', 'other'],
    rcode: ['NOERROR', 'REFUSED', 'NOTAUTH', 'SERVFAIL'],
  }),
  zoneplane_dns_message_duration_seconds: histogram('Time from the arrival of such a message to its answer.', {
    kind: ['update', 'query', 'other'],
  }),
  zoneplane_dns_dropped_total: counter('Datagrams and connections at that port that were dropped: too many at once.', {
    what: ['datagram', 'connection'],
  }),
  zoneplane_throttled_requests_total: counter(
    'Requests that were refused with 429, by the scope whose rate was exceeded; bodies and passwords are limited at a time.',
    { scope: [...SCOPES, 'bodies', 'passwords'] },
  ),
  zoneplane_counted_in_memory_total: counter(
    'Decisions of throttling that the process made alone, because Postgres did not count in time.',
    {},
  ),
  zoneplane_events_total: counter('Events of accounts, tokens and domains, as in the log.', {
    event: ['login_failed', 'code_failed'],
  }),
  zoneplane_powerdns_calls_total: counter(
    'Calls of the API of PowerDNS by their outcome: done, a kind of failure, or lease_lost.',
    { call: [], outcome: [] },
  ),
  zoneplane_powerdns_call_duration_seconds: histogram(
    'Time of calls of PowerDNS, with that for which they waited for a connection.',
    { call: [] },
  ),
  zoneplane_powerdns_wait_duration_seconds: histogram('Time for which calls of PowerDNS waited for a connection.', {}),
  zoneplane_powerdns_calls: gauge('Calls of PowerDNS that are open, and that wait for a connection.', {
    state: ['open', 'waiting'],
  }),
  zoneplane_postgres_connections: gauge('Connections to Postgres.', { pool: POOLS, state: ['used', 'idle'] }),
  zoneplane_postgres_waiting: gauge('Statements and transactions that wait for a connection to Postgres.', {
    pool: POOLS,
  }),
  zoneplane_postgres_errors_total: counter(
    'Statements and connections that failed: Postgres unavailable, a lock not got in time, a constraint, other.',
    { pool: POOLS, kind: ['unavailable', 'lock', 'constraint', 'other'] },
  ),
  zoneplane_write_step_duration_seconds: histogram(
    'Time that writes spend in each step (docs/design/architecture.md).',
    { step: ['turn', 'lock', 'plan', 'mark', 'push', 'commit'] },
  ),
  zoneplane_marks: gauge('Zones that may differ at PowerDNS.', {}),
  zoneplane_oldest_mark_age_seconds: gauge('Age of the oldest mark; 0 if there is none.', {}),
  zoneplane_repairs_total: counter('Zones that this process has repaired.', {}),
  zoneplane_repair_failures_total: counter(
    'Repairs that failed: by the kind of failure of PowerDNS, or because of Postgres, or other.',
    { kind: ['refused', 'conflict', 'absent', 'unreachable', 'failed', 'unknown', 'postgres', 'other'] },
  ),
  zoneplane_drifted_zones_total: counter(
    'Zones that differed from Postgres without a mark: others have changed them, or a request came late.',
    { found_by: ['audit', 'write'] },
  ),
  zoneplane_primary_changes_total: counter('How often another one of several PowerDNS became the active one.', {}),
  zoneplane_standby_zones_behind: gauge('Zones that wait to be copied to a standby with a database of its own.', {
    primary: [],
  }),
  zoneplane_standby_lag_seconds: gauge('Time since the oldest change that waits to be copied there; 0 if none does.', {
    primary: [],
  }),
  zoneplane_backend_up: gauge('Whether a part of /readyz is ok: 1 or 0.', {
    backend: ['database', 'migrations', 'powerdns', 'standbys'],
  }),
  zoneplane_measured_timestamp_seconds: gauge(
    'UNIX time at which what follows, and the marks, were last read from Postgres.',
    {},
  ),
  zoneplane_accounts: gauge('About how many accounts there are.', {}),
  zoneplane_tokens: gauge('About how many tokens there are.', {}),
  zoneplane_domains: gauge('Domains, by the state of their delegation.', { delegation: [] }),
  zoneplane_rollovers: gauge('Domains whose keys are being replaced, by phase.', { phase: [] }),
  zoneplane_oldest_rollover_age_seconds: gauge(
    'Time since the oldest rollover in a phase entered it; 0 if there is none. Without those that wait for others.',
    { phase: [] },
  ),
  zoneplane_rrsets: gauge('About how many RRsets there are.', {}),
  zoneplane_history_entries: gauge('About how many entries the history has.', {}),
  zoneplane_history_octets: gauge('How many octets the histories had at the last look at their limits.', {}),
  zoneplane_history_trimmed_total: counter('Entries that went because the histories of an account were too large.', {}),
  zoneplane_mails_queued: gauge('Mails that wait to be sent.', {}),
  zoneplane_oldest_mail_age_seconds: gauge('Age of the oldest of them; 0 if there is none.', {}),
  zoneplane_work_total: counter('Attempts to do what is to be done later, by its kind and their outcome.', {
    kind: ['mail', 'notify-parent', 'webhook'],
    outcome: ['done', 'failed', 'given_up'],
  }),
  zoneplane_webhook_attempts_total: counter(
    'Attempts to tell receivers of webhooks something, and webhooks that were disabled.',
    {
      outcome: ['delivered', 'failed', 'disabled'],
    },
  ),
  zoneplane_secondary_answers_total: counter(
    'Answers of secondaries to the sweep: they serve the current version of a zone, are behind, or do not answer.',
    { secondary: [], answer: ['current', 'behind', 'none'] },
  ),
  zoneplane_parent_notifications_total: counter(
    'Attempts to tell a parent zone that CDS have changed, by what became of them.',
    { outcome: ['acknowledged', 'refused', 'silent', 'unreachable', 'unwanted', 'unknown'] },
  ),
}

/** The bounds of all histograms. */
export const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type Name = keyof typeof METRICS

/** The names of the metrics of a kind. */
export type NameOf<Kind extends string> = {
  [Each in Name]: (typeof METRICS)[Each]['kind'] extends Kind ? Each : never
}[Name]

/** The labels of a metric. */
export type LabelsOf<Each extends Name> = Record<keyof (typeof METRICS)[Each]['labels'], string>
