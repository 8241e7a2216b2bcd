import { stepWords } from '../dnssec/dnssec.ts'
import { type Change, counted, type Line, linesOf } from '../rrsets/rrset.ts'
import { ttlWords } from '../rrsets/ttl.ts'

/** What a line of the history says of an entry (contract §15.5). */
interface Entry {
  source: string
  owner: string | null
  token: { name: string | null } | null
  count: number
  event: 'creation' | 'deletion' | 'return' | null
  rollover: { action: string; phase: string | null } | null
  changes: Change[] | null
}

/** Where a write came from, in words; of a request for records, its token says enough. */
const SOURCES: Record<string, string> = {
  dyndns: 'dynamic DNS',
  'powerdns-api': 'PowerDNS’ API',
  update: 'DNS UPDATE',
  import: 'creation with a zone file',
  zonefile: 'zone file',
  undo: 'undo',
  restore: 'restored state',
  creation: 'creation',
  operator: 'the operator',
  repair: 'repair of what others had changed in DNS',
}

/** What happened to the domain itself. */
const EVENTS = { creation: 'Domain created', deletion: 'Domain deleted', return: 'Domain restored' }

/** How many changes a line names. */
const MOST_NAMED = 3

/** What an entry did: the changes that its line names, and what follows these. */
export function deedOf({ changes, count, event, rollover }: Entry): { named: Change[]; rest: string } {
  if (event !== null) return { named: [], rest: `${EVENTS[event]} · ${counted(count, 'record set')}` }
  if (rollover !== null) return { named: [], rest: stepWords(rollover) }
  if (changes === null) return { named: [], rest: counted(count, 'record set') }
  const [ttl, ...others] = new Set(changes.map(ttlOf))
  if (count > MOST_NAMED && ttl && others.length === 0 && changes.every((change) => valuesIn(change) === ttl))
    return { named: [], rest: `${ttl} on ${counted(count, 'record set')}` }
  return { named: changes.slice(0, MOST_NAMED), rest: count > MOST_NAMED ? `${count - MOST_NAMED} more` : '' }
}

/** What a change makes of the values of an RRset, if that is short: `192.0.2.1 → 192.0.2.2`, `TTL 1 day → 5 minutes`. */
export function valuesIn(change: Change): string {
  const { before, after } = change
  const lines = linesOf(change)
  const of = (verb: Line['verb']) => lines.filter((line) => line.verb === verb).map(({ record }) => shortened(record))
  const [gone, come] = [of('removed'), of('added')]
  const sign = before && after && gone.length !== come.length ? (gone.length > 0 ? '− ' : '+ ') : ''
  const values = Math.max(gone.length, come.length) > 1 ? '' : sign + [...gone, ...come].join(' → ')
  return [values, ttlOf(change)].filter(Boolean).join(', ')
}

/** How a change changes the TTL alone, or the TTL, too; else empty. */
function ttlOf({ before, after }: Change): string {
  return before && after && before.ttl !== after.ttl ? `TTL ${ttlWords(before.ttl)} → ${ttlWords(after.ttl)}` : ''
}

/** How many characters of a record a line shows. */
const MOST_SHOWN = 60

function shortened(record: string): string {
  return record.length > MOST_SHOWN ? `${record.slice(0, MOST_SHOWN)}…` : record
}

/** What the tokens of log-ins are called. */
const LOGIN = 'login'

/** Who did it, and how: `token “ci”`, `bob@example.org`, `the operator`, `a token that was deleted`. */
export function authorOf(
  { source, token, owner }: Omit<Entry, 'count' | 'event' | 'rollover' | 'changes'>,
  email: string,
): string {
  const words = SOURCES[source]
  if (token === null) return words ?? (source === 'rollover' ? 'the service' : 'the API')
  const known = token.name === '' ? 'a token' : `token “${token.name}”`
  const isOther = owner !== null && owner !== email
  // The log-in of a member says who; its token is a detail.
  if (isOther && [LOGIN, null].includes(token.name)) return words === undefined ? owner : `${owner} (${words})`
  const name = token.name === null ? 'a token that was deleted' : known
  return `${name}${isOther ? ` of ${owner}` : ''}${words === undefined ? '' : ` (${words})`}`
}

/** The search that finds what else the author did: a member whatever its log-in; empty if the author has no name. */
export function searchFor({ token, owner }: Pick<Entry, 'token' | 'owner'>, email: string): string {
  const name = token?.name ?? LOGIN
  const isOther = owner !== email
  const words = [isOther && name === LOGIN ? '' : name, isOther || name === LOGIN ? owner : '']
  return token === null ? '' : words.join(' ').trim().replace(/\S+/g, 'by:$&')
}

/** Entries with the days on which they were made, in the user's time zone, both in their order. */
export function byDay<T extends { created: string }>(entries: T[]): { day: Date; entries: T[] }[] {
  const days: { day: Date; entries: T[] }[] = []
  for (const entry of entries) {
    const day = new Date(entry.created)
    day.setHours(0, 0, 0, 0)
    const last = days.at(-1)
    if (last?.day.getTime() === day.getTime()) last.entries.push(entry)
    else days.push({ day, entries: [entry] })
  }
  return days
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

/** A day, from its midnight: `Today`, `Yesterday`, or its date. */
export function dayWords(midnight: Date, now = new Date()): string {
  // Days of 23 and 25 hours count as one.
  const age = Math.round((new Date(now).setHours(0, 0, 0, 0) - midnight.getTime()) / 86_400_000)
  return ['Today', 'Yesterday'][age] ?? DAY.format(midnight)
}

/** The change back. */
export function reversed({ before, after, ...place }: Change): Change {
  return { ...place, before: after, after: before }
}
