import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { stringify } from '../../flow/slices.ts'
import { fromMicroseconds, microseconds, type Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query } from '../database.ts'
import type { Phase } from '../domains/rollovers.ts'
import { type Cursor, type List, type Page, pageOf } from '../pagination.ts'
import { OWN, type Search, searched, typePattern } from './history-search.ts'
import type { Filter, RRsetKey, RRsetState } from './rrsets.ts'

/** The origins of a change (contract §15.5). */
export const SOURCES = [
  'api',
  'dyndns',
  'powerdns-api',
  'update',
  'import',
  'zonefile',
  'undo',
  'restore',
  'creation',
  'operator',
  'repair',
  'rollover',
] as const
export type Source = (typeof SOURCES)[number]

/** The author of a change; null: no token, or no account. */
export interface Author {
  source: Source
  ownerId: string | null
  tokenId: string | null
}

type Contents = Pick<RRsetState, 'ttl' | 'records'>

/** What can happen to the replacement of a domain's keys (contract §15.10); the service itself advances it. */
export const ACTIONS = ['begin', 'return', 'advance', 'confirm', 'force', 'cancel'] as const

/** What happened to the replacement of a domain's keys. */
export interface RolloverAction {
  action: (typeof ACTIONS)[number]
  /** Its phase since then; null: it ended. */
  phase: Phase | null
}

/** What happened to the domain itself; its creation needs no note, because it has the time of its entry. */
export type NotedEvent = 'deletion' | 'return'

/** An RRset before and after a write; undefined: it does not exist. */
export interface Step extends RRsetKey {
  before: Contents | undefined
  after: Contents | undefined
}

/** Who made a change; null: no token, or no account. */
export interface NamedAuthor {
  /** The e-mail address of the account of the token; null if the account no longer exists. */
  owner: string | null
  tokenId: string | null
  /** null if the token was deleted. */
  tokenName: string | null
}

/** A write that changed something, or what happened to a rollover. */
export interface Entry extends NamedAuthor {
  id: string
  created: Timestamp
  version: number
  source: Source
  requestId: string | null
  /** Why, in the words of who wrote; null: they did not say. */
  message: string | null
  count: number
  /** null unless it is about the domain itself; its RRsets came or went with it. */
  event: NotedEvent | null
  /** null unless the source is `rollover`; then there are no changes. */
  rollover: RolloverAction | null
  /** True if older entries went because of the limit of octets. */
  trimmed: boolean
  /** null in a page if they are larger than SMALL. */
  changes: Step[] | null
}

/** An entry with all its changes. */
export interface WholeEntry extends Entry {
  changes: Step[]
}

/** Octets of the compact JSON of changes that a page of entries has. */
export const SMALL = 2048

/** The columns of `NamedAuthor`. */
export const AUTHOR = `(select email from accounts where accounts.id = history.owner_id) as owner,
  history.token_id as "tokenId", (select name from tokens where tokens.id = history.token_id) as "tokenName"`

export const COLUMNS = `history.id, history.created, history.version, history.source, ${AUTHOR},
  history.request_id as "requestId", history.message, history.count, history.event, history.rollover, history.trimmed`

/** Octets for which each entry counts beside its changes and its message (contract §15.5): its other columns, and the indexes. */
const ENTRY_OCTETS = 256

/** The octets of an entry. Postgres does not read a long text to know its length. */
export const OCTETS = `(octet_length(history.changes) + coalesce(octet_length(history.message), 0) + ${ENTRY_OCTETS})`

/** An RRset in compact form: its TTL, then its records. */
type Compact = [ttl: number, ...records: string[]] | null
type CompactStep = [subname: string, type: string, before: Compact, after: Compact]

function compact(contents: Contents | undefined): Compact {
  return contents === undefined ? null : [contents.ttl, ...contents.records]
}

function contentsOf(compact: Compact): Contents | undefined {
  if (compact === null) return undefined
  const [ttl, ...records] = compact
  return { ttl, records }
}

/** The time and the author of a domain's version. */
export interface Occasion extends Author, Pick<Entry, 'event' | 'rollover' | 'message'> {
  version: number
  now: Timestamp
  requestId: string | null
}

/** An entry that is about to be stored. */
export interface Draft extends Occasion {
  count: number
  changes: string
  octets: number
}

/** Returns an entry for a domain's history. */
export async function draft(occasion: Occasion, steps: Step[]): Promise<Draft> {
  const changes = await stringify(steps, ({ subname, type, before, after }): CompactStep => [
    subname,
    type,
    compact(before),
    compact(after),
  ])
  const octets = Buffer.byteLength(changes) + Buffer.byteLength(occasion.message ?? '') + ENTRY_OCTETS
  return { ...occasion, count: steps.length, changes, octets }
}

const INSERT = `insert into history
    (id, domain_id, account_id, created, version, source, owner_id, token_id, request_id, message, count, changes, event,
     rollover)
  values
    (:id, :domainId, :accountId, :now, :version, :source, :ownerId, :tokenId, :requestId, :message, :count, :changes,
     :event, :rollover)`

/** A domain, and the account in whose activity its entries are. */
export interface Owned {
  id: number
  ownerId: string
}

/** Adds an entry to a domain's history. The caller adds its octets to those of the domain. */
export async function add(trx: Db, domain: Owned, draft: Draft): Promise<void> {
  await query(trx, INSERT, valuesOf(domain, draft))
}

function valuesOf({ id: domainId, ownerId: accountId }: Owned, draft: Draft) {
  return { ...draft, id: idAt(draft.now, randomBytes(8)), domainId, accountId }
}

/** Adds an entry to a domain's history, and its octets to those of the domain. */
export async function addCounted(trx: Db, domain: Owned, draft: Draft): Promise<void> {
  await query(
    trx,
    `with counted as (update domains set history_octets = history_octets + :octets where id = :domainId) ${INSERT}`,
    valuesOf(domain, draft),
  )
}

/**
 * Makes an id whose order is that of the times (RFC 9562 §5.7): so new entries are at the end of the index, which also
 * finds the oldest ones.
 */
export function idAt(time: Timestamp, random: Buffer): string {
  const count = microseconds(time)
  const milliseconds = (count / 1000n).toString(16).padStart(12, '0')
  const rest = (count % 1000n).toString(16).padStart(3, '0')
  const bytes = Buffer.from(random)
  bytes[0] = (bytes[0]! & 0x3f) | 0x80
  const tail = bytes.toString('hex')
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7${rest}-${tail.slice(0, 4)}-${tail.slice(4)}`
}

/** Returns the time in an id that `idAt` made; undefined if it is of another kind. */
export function timeIn(id: string): Timestamp | undefined {
  const [, milliseconds, rest] = /^([\da-f]{8}-[\da-f]{4})-7([\da-f]{3})-/.exec(id) ?? []
  if (milliseconds === undefined) return undefined
  return fromMicroseconds(BigInt(`0x${milliseconds.replace('-', '')}`) * 1000n + BigInt(`0x${rest}`))
}

/** The entries of a list: those with a change of such an RRset that a search finds, too. */
export interface EntryFilter extends Filter {
  search?: Search | undefined
}

/** Returns a page of the domain's entries that pass the filter, newest first. */
export async function page(pool: Pool, domainId: number, filter: EntryFilter, cursor?: Cursor): Promise<Page<Entry>> {
  const columns = `${COLUMNS}, case when octet_length(changes) <= ${SMALL} then changes end as changes`
  const { condition, bindings } = matching(domainId, filter)
  const list: List = { table: 'history', columns, conditions: [condition], bindings }
  const found = await pageOf<StoredEntry>(pool, filter.search ? searched(list, filter.search) : list, cursor)
  return { ...found, rows: found.rows.map(withChanges) }
}

export type StoredEntry = Omit<Entry, 'changes'> & { changes: string | null }

/** Returns an entry of a page with its changes, if the page has them. */
export function withChanges<E extends StoredEntry>(entry: E): Omit<E, 'changes'> & Pick<Entry, 'changes'> {
  return { ...entry, changes: entry.changes === null ? null : stepsIn(entry.changes) }
}

function stepsIn(changes: string): Step[] {
  return (JSON.parse(changes) as CompactStep[]).map(([subname, type, before, after]) => {
    return { subname, type, before: contentsOf(before), after: contentsOf(after) }
  })
}

/** Counts the domain's entries that pass the filter. */
export async function count(db: Db, domainId: number, filter: Filter): Promise<number> {
  const { condition, bindings } = matching(domainId, filter)
  return (await one<{ n: number }>(db, `select count(*) as n from history where ${condition}`, bindings)).n
}

/**
 * Searches the compact JSON as text, because parsing it takes longer. In it, `["` only begins a change: arrays of
 * records begin with a TTL, and the quotes within strings are escaped.
 */
function matching(
  domainId: number,
  { subname, type }: Filter,
): { condition: string; bindings: Record<string, unknown> } {
  if (subname !== undefined) {
    const start = JSON.stringify(type === undefined ? [subname] : [subname, type]).replace(/\]$/, ',')
    return { condition: `${OWN} and position(:start in changes) > 0`, bindings: { domainId, start } }
  }
  if (type === undefined) return { condition: OWN, bindings: { domainId } }
  return { condition: `${OWN} and changes ~ :pattern`, bindings: { domainId, pattern: typePattern(type) } }
}

/** Returns an entry of the domain. */
export async function find(db: Db, domainId: number, id: string): Promise<WholeEntry | undefined> {
  const sql = `select ${COLUMNS}, changes from history where id = :id and domain_id = :domainId`
  const entry = await maybeOne<StoredEntry & { changes: string }>(db, sql, { id, domainId })
  return entry && { ...entry, changes: stepsIn(entry.changes) }
}

/** A former state of a domain: the one that an entry left. */
export type Moment = Pick<Entry, 'created' | 'version'>

/** Returns the oldest known state of the domain; undefined without entries. */
export async function oldest(db: Db, domainId: number): Promise<Moment | undefined> {
  const sql = 'select created, version from history where domain_id = :domainId order by created, id limit 1'
  return maybeOne(db, sql, { domainId })
}

/**
 * Returns the time when the domain's contents got this version, or the next lower one that they had. A rollover does not
 * change them, and its entry may be later than a write that follows it, if the clock was set back.
 */
export async function reached(db: Db, domainId: number, version: number): Promise<Timestamp | undefined> {
  const sql = `select created from history where domain_id = :domainId and version <= :version and source <> 'rollover'
    order by created desc, id desc limit 1`
  return (await maybeOne<{ created: Timestamp }>(db, sql, { domainId, version }))?.created
}

/** Returns the RRsets that were written after this time, in their state then; without `before`, one did not exist. */
export async function statesAt(db: Db, domainId: number, time: Timestamp): Promise<Omit<Step, 'after'>[]> {
  const rows = await query<RRsetKey & { before: Compact }>(
    db,
    `select distinct on (change ->> 0, change ->> 1) change ->> 0 as subname, change ->> 1 as type, change -> 2 as before
     from history cross join lateral json_array_elements(cast(changes as json)) as change
     where domain_id = :domainId and history.created > :time and source <> 'repair'
     order by change ->> 0, change ->> 1, history.created`,
    { domainId, time },
  )
  return rows.map(({ subname, type, before }) => ({ subname, type, before: contentsOf(before) }))
}
