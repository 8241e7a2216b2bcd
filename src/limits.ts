/** Every size and rate of the contract (§§4, 8.4, 16), by the contract's names. Limits of record contents: dns/. */

export const DOMAIN_NAME_LENGTH = 191
export const TTL_MAX = 86400
export const TOKEN_NAME_LENGTH = 178

/** Networks from which a token may be used (contract §5.4). */
export const ALLOWED_SUBNETS_MAX = 256

/** The longest duration (contract §5.3), in days; and how many characters one may be written in. */
export const DURATION_DAYS = 365_000
export const DURATION_TEXT_LENGTH = 100

/** What requests are counted under (contract §14). */
export const SCOPES = [
  'account_management_active',
  'account_management_passive',
  'dyndns',
  'dns_api_cheap',
  'dns_api_expensive',
  'dns_api_per_domain_expensive',
  'user',
  'login_failure',
] as const
export type Scope = (typeof SCOPES)[number]

/** So many requests in a window of so many seconds. */
export interface Rate {
  requests: number
  seconds: number
}

const SECOND = 1
const MINUTE = 60
const HOUR = 3600
export const DAY = 86_400

/** The rates of each scope, where no setting says otherwise; all of them must allow a request. */
export const RATES: Record<Scope, readonly Rate[]> = {
  account_management_active: [{ requests: 3, seconds: MINUTE }],
  account_management_passive: [
    { requests: 500, seconds: MINUTE },
    { requests: 6_000, seconds: HOUR },
  ],
  dyndns: [{ requests: 20, seconds: 2 * MINUTE }],
  dns_api_cheap: [
    { requests: 100, seconds: SECOND },
    { requests: 500, seconds: MINUTE },
  ],
  dns_api_expensive: [
    { requests: 100, seconds: SECOND },
    { requests: 3_000, seconds: MINUTE },
    { requests: 10_000, seconds: HOUR },
  ],
  dns_api_per_domain_expensive: [
    { requests: 20, seconds: SECOND },
    { requests: 150, seconds: MINUTE },
    { requests: 1_000, seconds: HOUR },
    { requests: 3_000, seconds: DAY },
  ],
  user: [{ requests: 20_000, seconds: DAY }],
  login_failure: [
    { requests: 10, seconds: MINUTE },
    { requests: 100, seconds: HOUR },
  ],
}

/** What a rate may be set to; a window in memory ends by a timer, which runs for less than 25 days. */
export const RATE_REQUESTS_MAX = 1_000_000
export const RATE_SECONDS_MAX = 24 * DAY

/** How many windows a process remembers, all callers together: some 0.5 kB each. */
export const WINDOWS_MAX = 100_000

/** Milliseconds that Postgres is given to connect, and to count; and seconds between two warnings that it did not. */
export const COUNTING_TIME = 1_000
export const COUNTING_WARNING_PAUSE = 60

/** Entries of a list that are answered at once (contract §4). */
export const PAGE_SIZE = 500

/** An integer given as text may have this many characters (contract §1.4). */
export const INTEGER_TEXT_LENGTH = 1000

/** TTL of the apex NS RRset that a new domain gets (contract §16), in seconds. */
export const APEX_NS_TTL = 3600

/** TTL of the DS RRset that delegates a domain below a local public suffix (contract §7.6), in seconds. */
export const DELEGATION_DS_TTL = 300

/** Octets of a request body by route (contract §1.3); creating a domain has a setting. */
export const BODY_COLLECTION = 4 * 1024 * 1024
export const BODY_RESOURCE = 1024 * 1024
export const BODY_FORM = 64 * 1024

/** Values in the JSON of any body (contract §1.3): parsing more would block the event loop. */
export const BODY_VALUES = 200_000

/** Items of a request to the RRset collection (contract §8.7): it is stored and published in one piece. */
export const COLLECTION_ITEMS = 20_000

/** A write looks for delegations above so many names at most; above more there might be one, so the zone is rectified. */
export const ANCESTORS = 100_000

/** Milliseconds of work on one request after which the event loop goes on. */
export const SLICE = 10

/** Of items with the same subname and type, each names at most so many others: else the answer grows with their square. */
export const NAMED_POSITIONS = 100

/** TTL of what dynDNS writes (contract §10.5), in seconds. */
export const DYNDNS_TTL = 60

/** Milliseconds that a write waits for its turn at a domain before it gives up with 503. */
export const TURN_TIME = 5_000

/**
 * Up to this many RRsets PowerDNS may rectify the zone with every publication: it costs less than the request itself.
 * In larger zones it does so only for changes that need it (powerdns.md §1.3: 3 to 7 µs per RRset).
 */
export const SMALL_ZONE = 200

/** Milliseconds that PowerDNS is given to answer a request that carries so many RRsets. */
export function answerTime(rrsets: number): number {
  return 10_000 + 11 * rrsets
}

/** Milliseconds that a stopping process gives the requests that run: a turn waited for, and PowerDNS' time. */
export const STOP_TIME = TURN_TIME + answerTime(0) + 1_000

/** Milliseconds after which a request that PowerDNS took but never answered counts as not applied, once it is well. */
export function graceTime(rrsets: number): number {
  return 1_500 + 2 * rrsets
}

/** How many marked zones are repaired side by side, and the milliseconds between two looks at what is due. */
export const RECONCILERS = 4
export const RECONCILE_PAUSE = 1_000

/** How many such pauses an operator waits for zones that others are at work on. */
export const RECONCILE_PATIENCE = 15

/** Milliseconds between two comparisons of all serials: 100,000 zones cost PowerDNS a second. */
export const AUDIT_PAUSE = 600_000

/** Characters of a password (contract §11.1), and how many may wait to be hashed: about a second's work. */
export const PASSWORD_LENGTH_MIN = 8
export const PASSWORD_LENGTH_MAX = 128
export const HASHES_WAITING = 50

/**
 * The work of a captcha: a solver derives so many keys, each in so many rounds of PBKDF2. In all 1.5 to 2.5 million
 * rounds: a second or two on a phone that does a quarter of the 5.4 million a second that a server's core does.
 */
export const CAPTCHA_KEYS = { min: 300, max: 500 }
export const CAPTCHA_ROUNDS = 5_000

/** The seconds in which a captcha can be answered (contract §11.2), and the characters of an answer. */
export const CAPTCHA_VALIDITY = HOUR
export const CAPTCHA_SOLUTION_LENGTH = 10_000

/** Seconds for which a TOTP code stands, and how many such steps a clock may be ahead or behind (contract §12). */
export const TOTP_STEP = 30
export const TOTP_DRIFT = 1

/** Octets of a TOTP factor's secret, characters of its name, digits of its codes (contract §§12, 16). */
export const TOTP_SECRET_LENGTH = 32
export const TOTP_NAME_LENGTH = 64
export const TOTP_DIGITS = 6

/** Milliseconds after which work that goes on by itself is tried again when it failed. */
export const RECOVERY_PAUSE = 1_000

/** How many mails are sent side by side, and the milliseconds between two looks at what is due. */
export const MAIL_SENDERS = 2
export const MAIL_PAUSE = 1_000

/** Milliseconds until a mail that could not be sent is tried again: so many at first, doubling up to an hour. */
export const MAIL_FIRST_DELAY = 1_000
export const MAIL_LAST_DELAY = 3_600_000

/** Milliseconds after which a mail that could not be sent is given up: two days. */
export const MAIL_LIFETIME = 2 * 86_400_000

/** Milliseconds that a mail server is given to be connected to, and to answer. */
export const MAIL_CONNECT_TIME = 20_000
export const MAIL_ANSWER_TIME = 120_000

/** How long a login lasts in all, and how long without being used (contract §11.2). */
export const LOGIN_AGE = '7 00:00:00'
export const LOGIN_UNUSED_PERIOD = '01:00:00'

/** Seconds that a link to a new TOTP factor is valid (contract §11.3); for the others there is a setting. */
export const TOTP_LINK_VALIDITY = 3600

/** Milliseconds after which an answer leaves that may not tell by its time what was done. */
export const CONSTANT_TIME = 100
