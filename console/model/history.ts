import { withoutDot } from '../../src/dns/names.ts'
import { stepWords } from './dnssec.ts'
import { asciiName } from './owner.ts'
import { titleOf } from './rows.ts'
import { type Change, counted, verbFor } from './rrset.ts'

/** What a line of the history says of an entry (contract §15.5). */
interface Entry {
  source: string
  owner: string | null
  token: { name: string | null } | null
  count: number
  rollover: { action: string; phase: string | null } | null
  changes: Change[] | null
}

/** Where a write came from, in words; of a request for records, its token says enough. */
const SOURCES: Record<string, string> = {
  dyndns: 'dynamic DNS',
  import: 'creation with a zone file',
  zonefile: 'zone file',
  undo: 'undo',
  restore: 'restored state',
  creation: 'creation',
  operator: 'the operator',
  repair: 'repair of what others had changed in DNS',
}

/** How many changes a line names. */
const MOST_NAMED = 3

/** `www A changed, mail A removed` */
function whatOf({ changes, count }: Entry): string {
  if (changes === null) return counted(count, 'record set')
  const named = changes.slice(0, MOST_NAMED).map((change) => `${titleOf(change)} ${verbFor(change)}`)
  return [...named, ...(count > MOST_NAMED ? [`${count - MOST_NAMED} more`] : [])].join(', ')
}

/** `www A removed, by token “ci”`, or the step of a rollover and who took it, if it was not the service. */
export function wordsOf(entry: Entry, email: string): string {
  const { source, token, owner, rollover } = entry
  const isOther = owner !== null && owner !== email
  const name = token?.name
  const by = name === null ? 'a token that was deleted' : name === '' ? 'a token' : `token “${name}”`
  const who = token === null ? undefined : `${by}${isOther ? ` of ${owner}` : ''}`
  if (rollover !== null) return stepWords(rollover) + (who === undefined ? '' : ` By ${who}.`)
  const words = SOURCES[source]
  const author = who === undefined ? (words ?? 'the API') : words === undefined ? who : `${who} (${words})`
  return `${whatOf(entry)}, by ${author}`
}

/** The filters that are given. A name is one of the domain, or a full one; `@` is the apex. */
export function wanted({ subname, type }: { subname: string; type: string }, domain: string) {
  const name = withoutDot(asciiName(subname))
  const inside = name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : name
  return {
    ...(name !== '' && { subname: ['@', domain].includes(name) ? '' : inside }),
    ...(type.trim() !== '' && { type: type.trim().toUpperCase() }),
  }
}

/** The change back. */
export function reversed({ before, after, ...place }: Change): Change {
  return { ...place, before: after, after: before }
}
