import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { SEARCHED_CHANGES } from '../../limits.ts'
import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import { isConfined, type Viewer, visibleTo } from '../domains/visibility.ts'
import { type Cursor, type List, type Page, pageOf } from '../pagination.ts'
import { COLUMNS, type Entry, idAt, SMALL, type StoredEntry, withChanges } from './history.ts'

/** What happened to an account, about to be stored. */
export interface AccountEvent {
  accountId: string
  now: Timestamp
  event: string
  /** How whoever did it came: by a token (`api`), or in another way. */
  source: string
  /** The account of whoever did it; null: not known, or the operator. */
  ownerId: string | null
  tokenId: string | null
  requestId: string | null
  address: string | null
  /** JSON of what it is about. */
  subject: string
}

/** Stores what happened to an account, unless the account is gone. */
export async function add(db: Db, event: AccountEvent): Promise<void> {
  await query(
    db,
    `insert into history (id, account_id, created, version, source, owner_id, token_id, request_id, count, changes,
       event, address, subject)
     select :id, id, :now, 0, :source, cast(:ownerId as uuid), cast(:tokenId as uuid), :requestId, 0, '[]',
       :event, :address, :subject
     from accounts where id = :accountId`,
    { ...event, id: idAt(event.now, randomBytes(8)) },
  )
}

/** What an activity is about, as it was stored: ids, the name of the domain, and the state of its delegation. */
export type Subject = Partial<Record<'token' | 'policy' | 'factor' | 'member' | 'webhook' | 'domain' | 'state', string>>

/** An entry of a domain's history, or an event of an account. */
export interface Activity extends Omit<Entry, 'event' | 'trimmed' | 'source'> {
  type: string
  source: string
  /** The name of the domain that it is about; null: of none, or of one that is gone for good. */
  domain: string | null
  address: string | null
  /** null: it is of a domain's history. */
  subject: Subject | null
  /** The present name of the token that it is about, and the address of the member. */
  subjectName: string | null
}

/** What the entries of a list have; undefined: anything. */
export interface ActivityFilter {
  domain?: string | undefined
  /** The id of the token that did it, or that it is about. */
  token?: string | undefined
  /** A part of the address of whoever did it, in lower case. */
  person?: string | undefined
  source?: string | undefined
  /** A type, or its beginning before the underscore. */
  type?: string | undefined
  since?: Timestamp | undefined
  until?: Timestamp | undefined
  /** Parts of the domain's name, of a changed subname or of the message, in lower case. */
  words: { text: string; pattern: string | null }[]
}

const OF = (table: string, column: string) => `(select ${column} from ${table} where ${table}.id = history.domain_id)`

/** The name of the domain of an entry of `history`, in SQL. */
export const NAME = `coalesce(${OF('domains', 'name')}, ${OF('deleted_domains', 'name')}, cast(subject as json) ->> 'domain')`

/** The type of such an entry. */
export const TYPE = `case when domain_id is null then event
  when history.created in (${OF('domains', 'created')}, ${OF('deleted_domains', 'created')}) then 'domain_created'
  when event = 'deletion' or history.created = ${OF('deleted_domains', 'deleted')} then 'domain_deleted'
  when event = 'return' then 'domain_returned'
  when source = 'rollover' then 'rollover' else 'rrsets_changed' end`

const SUBJECT_NAME = `coalesce(
  (select name from tokens where tokens.id = cast(cast(subject as json) ->> 'token' as uuid)),
  (select email from members where members.id = cast(cast(subject as json) ->> 'member' as uuid)))`

const SHOWN = `${COLUMNS}, history.address, history.subject, ${TYPE} as type, ${NAME} as domain,
  ${SUBJECT_NAME} as "subjectName", case when octet_length(changes) <= ${SMALL} then changes end as changes`

/** Who did it, in lower case: the person, or who made the token as a member of the account. */
const PERSON = `lower(concat_ws(' ', (select email from accounts where accounts.id = history.owner_id),
  (select maker from tokens where tokens.id = history.token_id)))`

const FOUND = `not exists (
  select from unnest(cast(:texts as text[]), cast(:patterns as text[])) as word (text, pattern)
  where not coalesce(strpos(${NAME}, word.text) > 0, false)
    and not coalesce(strpos(lower(history.message), word.text) > 0, false)
    and not coalesce(left(changes, ${SEARCHED_CHANGES}) ~ word.pattern, false)
)`

/** The condition of entries that a viewer sees, whose rights may have become others since it was authenticated; undefined: all of the account. */
function seenBy(viewer: Viewer): string | undefined {
  if (!viewer.override) return undefined
  const visible = `domain_id in (select domains.id from domains where ${visibleTo(viewer)})`
  if (isConfined(viewer)) return visible
  return viewer.role === null
    ? `(${visible} or exists (select from tokens where id = :tokenId)
        and not exists (select from policies where token_id between :tokenId and :tokenId))`
    : `(${visible} or exists (select from members where id = :memberId and not confined))`
}

function listOf(viewer: Viewer, filter: ActivityFilter, seesAccount: boolean): List {
  const { domain, token, person, source, type, since, until, words } = filter
  const tests = [
    seenBy(viewer),
    !seesAccount && 'domain_id is not null',
    domain !== undefined && `${NAME} = :domain`,
    token !== undefined && `(token_id = :token or cast(subject as json) ->> 'token' = cast(:token as text))`,
    person !== undefined && `strpos(${PERSON}, :person) > 0`,
    // By statistics of the column, Postgres would rather read the whole table for a rare source.
    source !== undefined && `source || '' = :source`,
    type !== undefined && `:type in (${TYPE}, split_part(${TYPE}, '_', 1))`,
    words.length > 0 && FOUND,
  ].filter((test) => typeof test === 'string')
  const span = [since !== undefined && 'created >= :since', until !== undefined && 'created < :until'].filter(Boolean)
  const octets = words.length > 0 ? `least(octet_length(changes), ${SEARCHED_CHANGES})` : '0'
  return {
    table: 'history',
    columns: SHOWN,
    conditions: [['account_id = :accountId', ...span].join(' and ')],
    ...(tests.length > 0 && { test: { condition: tests.join(' and '), octets } }),
    bindings: {
      ...{ ...viewer, domain, token, person, source, type, since, until },
      texts: words.map(({ text }) => text),
      patterns: words.map(({ pattern }) => pattern),
    },
  }
}

/**
 * Returns a page of what happened in an account, newest first: of domains that the viewer can see, and of the account.
 * @param seesAccount whether it sees what is not of a domain's history
 */
export async function page(
  pool: Pool,
  viewer: Viewer,
  filter: ActivityFilter,
  seesAccount: boolean,
  cursor?: Cursor,
): Promise<Page<Activity>> {
  const found = await pageOf<Row>(pool, listOf(viewer, filter, seesAccount), cursor)
  return { ...found, rows: found.rows.map(read) }
}

type Row = StoredEntry & Omit<Activity, 'changes' | 'subject'> & { subject: string | null }

function read(row: Row): Activity {
  return { ...withChanges(row), subject: row.subject === null ? null : (JSON.parse(row.subject) as Subject) }
}

/** Returns an entry of an account, with its authors. */
export async function find(db: Db, accountId: string, id: string): Promise<Activity | undefined> {
  const sql = `select ${SHOWN} from history where id = :id and account_id = :accountId`
  const row = await maybeOne<Row>(db, sql, { id, accountId })
  return row && read(row)
}

/** Counts all entries of an account. */
export async function count(db: Db, accountId: string): Promise<number> {
  const sql = 'select count(*) as n from history where account_id = :accountId'
  return (await one<{ n: number }>(db, sql, { accountId })).n
}
