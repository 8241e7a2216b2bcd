import { DAY, HOUR, MINUTE, SECOND } from './time.ts'

// The sizes, rates and times of the contract (§§4, 8.4, 16), under its names; at the end, those that several rings must
// agree on. The limits of record contents are in dns/, those of DNS UPDATE in update/; what concerns one module is in that
// module.

export const DOMAIN_NAME_LENGTH = 191

/** Characters of a searched name (contract §7.5): all that a name can have (RFC 1035 §2.3.4). */
export const NAME_LENGTH = 253

export const TTL_MAX = 86400
export const TOKEN_NAME_LENGTH = 178
/** Characters of the message of a write. */
export const MESSAGE_LENGTH = 500

/** Networks from which a client can use a token (contract §5.4). */
export const ALLOWED_SUBNETS_MAX = 256

/** Addresses of each domain that may transfer its zone, and that receive NOTIFY (contract §15.7). */
export const TRANSFER_ADDRESSES_MAX = 8
export const TRANSFER_NOTIFY_MAX = 4

/** Addresses of a write for which PTR is proposed, and records of a PTR RRset, with which none is (contract §15.3). */
export const PTR_ADDRESSES_MAX = 100
export const PTR_RECORDS_MAX = 16

/**
 * Tokens of an account (contract §5.6), counted apart for API and login tokens; policies of a token (§6.2), and shapes of
 * their patterns (§6.4), each of which a write looks up for each name.
 */
export const TOKENS_MAX = 1_000
export const POLICIES_MAX = 2_000
export const SHAPES_MAX = 20

/** Names of domains that a membership can be limited to (contract §19.1). */
export const MEMBER_DOMAINS_MAX = 1_000

/** Webhooks of an account, and domains that one can be limited to (contract §22.1). */
export const WEBHOOKS_MAX = 20
export const WEBHOOK_DOMAINS_MAX = 1_000

/** The highest SOA serial that an adopted zone may have: each change needs a higher one, and they end at 2³² - 1. */
export const SERIAL_MAX = 4_200_000_000

/** RRsets of a domain (contract §8.6), and TOTP factors, and passkeys, of an account (contract §12). */
export const RRSETS_MAX = 250_000
export const FACTORS_MAX = 20

/** Octets of the records of a deleted domain that can be restored (contract §15.5): a row has less than a gigabyte. */
export const RESTORABLE_OCTETS = 256 * 1024 * 1024

/** By default, how many times the octets of records of one domain the histories of an account can have (contract §15.5). */
export const HISTORIES_FACTOR = 32

/** The longest duration (contract §5.3), in days; and the maximum length of its text. */
export const DURATION_DAYS = 365_000
export const DURATION_TEXT_LENGTH = 100

/** The scopes of throttling (contract §14). */
export const SCOPES = [
  'public',
  'login',
  'account_management_active',
  'account_management_passive',
  'dyndns',
  'dns_api_cheap',
  'dns_api_expensive',
  'dns_api_per_domain_expensive',
  'user',
  'login_failure',
  'login_failure_per_account',
  'totp_failure',
  'mail',
] as const
export type Scope = (typeof SCOPES)[number]

/** A limit of requests in a window of `seconds`. */
export interface Rate {
  requests: number
  seconds: number
}

/** The default rates of each scope; all of them must allow a request. */
export const RATES: Record<Scope, readonly Rate[]> = {
  public: [{ requests: 50, seconds: SECOND }],
  login: [{ requests: 20, seconds: SECOND }],
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
  login_failure: [{ requests: 10, seconds: MINUTE }],
  login_failure_per_account: [{ requests: 100, seconds: HOUR }],
  totp_failure: [{ requests: 10, seconds: HOUR }],
  mail: [
    { requests: 3, seconds: HOUR },
    { requests: 5, seconds: 12 * HOUR },
  ],
}

/** How many times its rates an account's API tokens have together (contract §14): each has them once. */
export const SHARED_RATES = 4

/** Seconds above which a window no longer counts requests that ended in 4xx (contract §14). */
export const LASTING_WINDOW = 2 * MINUTE

/** Entries of a page, and octets of its JSON, about (contract §4). */
export const PAGE_SIZE = 500
export const PAGE_OCTETS = 4 * 1024 * 1024

/** Entries of a history that a page of a search looks at, and octets of their changes, about; words (contract §15.5). */
export const SEARCHED_ENTRIES = 5_000
export const SEARCHED_OCTETS = 4 * 1024 * 1024
export const SEARCH_WORDS = 10

/** Octets of the changes of an entry that are searched. */
export const SEARCHED_CHANGES = 1024 * 1024

/** The maximum length of an integer in text form (contract §1.4). */
export const INTEGER_TEXT_LENGTH = 1000

/** TTL of the apex NS RRset that a new domain gets (contract §16), in seconds. */
export const APEX_NS_TTL = 3600

/** TTL of the DS RRset that delegates a domain below a local public suffix (contract §7.6), in seconds. */
export const DELEGATION_DS_TTL = 300

/** Octets of a request body by route (contract §1.3); a setting limits the creation of a domain. */
export const BODY_COLLECTION = 4 * 1024 * 1024
export const BODY_RESOURCE = 1024 * 1024
export const BODY_FORM = 64 * 1024

/** Milliseconds that a body has to arrive in full (contract §1.3): up to BODY_RESOURCE octets, and a larger one. */
export const BODY_TIME = 60_000
export const BODY_TIME_LARGE = 300_000

/**
 * Milliseconds for which a body waits for places (contract §1.8), and after which those who wait take away the places of
 * a request that waits for its client: other callers, and, but for bodies, its own.
 */
export const PLACE_TIME = 5_000
export const KEEPING_TIME = 4_000
export const OWN_KEEPING_TIME = 20_000

/** Octets of the bodies of running requests without a token (contract §1.8): of one network, and of all. */
export const STRANGERS_BODIES = { each: 1024 * 1024, all: 32 * 1024 * 1024 }

/** Octets of the bodies of running requests with a token: of one group, and of all. @param limit the setting */
export function accountsBodies(limit: number): { each: number; all: number } {
  const largest = Math.max(limit, BODY_COLLECTION)
  return { each: 4 * largest, all: 12 * largest }
}

/** Large responses that are in the making or in flight to their clients (contract §1.8): of one group, and of all. */
export const READERS = { each: 4, all: 64 }

/** Exports of zone files: each keeps a connection to Postgres until the client has taken it. */
export const EXPORTS = { each: 1, all: 4 }

/** Milliseconds after which a connection whose client takes nothing of a response is closed; and for a whole export. */
export const TAKING_TIME = 30_000
export const EXPORT_TIME = 300_000

/** Values in the JSON of any body (contract §1.3): parsing more would block the event loop. */
export const BODY_VALUES = 200_000

/** The depth of nesting of a body's values: some functions that print values call themselves for each level. */
export const BODY_DEPTH = 100

/** Inputs of a submitted HTML form (contract §1.3): each copies those of its object that came before. */
export const FORM_INPUTS = 20

/** Items of a request to the RRset collection (contract §8.7), which is stored and published as a whole. */
export const COLLECTION_ITEMS = 20_000

/** Connections of a process at a time to each address it listens on; and those of one client (contract §16). */
export const CONNECTIONS_MAX = 10_000
export const CONNECTIONS_PER_CLIENT = 1_000

/** TTL of the RRsets that dynDNS writes (contract §10.5), in seconds. */
export const DYNDNS_TTL = 60

/** Milliseconds that a request waits in its process for earlier ones, in all, before it fails with 503. */
export const TURN_TIMEOUT = 30_000

/** Milliseconds that a write waits for the lock of a domain before it fails with 503. */
export const QUEUE_TIMEOUT = 5_000

/**
 * Milliseconds that a change of a token's rights waits for the writes that the token has begun; it begins no others
 * meanwhile. Longer than most large writes take, so that a token cannot prevent its own deletion.
 */
export const WITHDRAWAL_TIMEOUT = 30_000

/** Changes of rights of a process at a time, each of which keeps a connection to Postgres: of one group, and of all. */
export const RIGHTS = { each: 1, all: 4 }

/** Milliseconds for which the result of a check of the backends is good (contract §15.2). */
export const HEALTH_TIME = 1_000

/** Seconds for which a request can wait until a change is served (contract §15.6), and the number of such requests. */
export const PUBLICATION_WAIT = 30
export const WAITING_MAX = 200
export const WAITING_PER_ACCOUNT = 20

/** Checks at the parent and searches for records of a process at a time: of each group, of all; what a search reads. */
export const CHECKS = { each: 1, all: 10 }
export const SEARCHES = { each: 1, all: 4, rrsets: 1_000_000, octets: 256 * 1024 * 1024 }

/** Characters of a password (contract §11.1). */
export const PASSWORD_LENGTH_MIN = 8
export const PASSWORD_LENGTH_MAX = 128

/** The seconds for which a captcha is valid (contract §11.2), and the maximum length of its solution. */
export const CAPTCHA_VALIDITY = HOUR
export const CAPTCHA_SOLUTION_LENGTH = 10_000

/** Octets of a TOTP factor's secret, characters of the name of a factor or passkey, digits of codes (contract §§12, 16). */
export const TOTP_SECRET_LENGTH = 32
export const FACTOR_NAME_LENGTH = 64
export const TOTP_DIGITS = 6

/** The lifetime of a login, and its lifetime without use (contract §11.2). */
export const LOGIN_AGE = '7 00:00:00'
export const LOGIN_UNUSED_PERIOD = '01:00:00'

/** Seconds for which a link to a new factor is valid (contract §11.3); a setting limits the other links. */
export const FACTOR_LINK_VALIDITY = 3600

/** Seconds for which a challenge for a passkey is valid, and a login is new enough to change factors (contract §12.1). */
export const CHALLENGE_VALIDITY = 300
export const NEW_LOGIN = 600

/** Seconds for which a browser can sign in at the issuer (contract §11.4), and for which the code of a callback is valid. */
export const SIGN_IN_TIME = 600
export const SIGN_IN_CODE_TIME = 60

/** Seconds for which an invitation can be accepted (contract §19.2). */
export const INVITATION_VALIDITY = 7 * DAY

// The clocks and sizes that several rings must agree on.

/** The size of a write in RRsets above which each account's writes run one at a time. */
export const SMALL_WRITE = 200

/** The octets of a request that take PowerDNS as long as another RRset. */
export const OCTETS_AS_RRSET = 5_000

/** Returns the octets of the records of RRsets, which are ASCII. */
export function octetsOf(rrsets: { records: string[] }[]): number {
  let octets = 0
  for (const { records } of rrsets) for (const { length } of records) octets += length
  return octets
}

/** Returns the size of a request to PowerDNS in RRsets: the octets of long ones count as more of them. */
export function requestSize(rrsets: { records: string[] }[]): number {
  return rrsets.length + Math.floor(octetsOf(rrsets) / OCTETS_AS_RRSET)
}

/** Returns the timeout in milliseconds of a request to PowerDNS of this size in RRsets. */
export function answerTime(size: number): number {
  return 10_000 + 11 * size
}

/** Milliseconds that running requests have when a process stops: to wait for a lock, and for PowerDNS. */
export const STOP_TIME = QUEUE_TIMEOUT + answerTime(0) + 1_000

/** Milliseconds for which a worker relies on a claim that it has confirmed. */
export const CLAIM_LIFETIME = 1_000

/** Seconds by which the clocks of processes and Postgres may differ. */
export const CLOCK_SKEW = 60
