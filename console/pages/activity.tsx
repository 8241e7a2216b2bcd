import type { components } from '../../build/api-types.d.ts'
import { api, askPage, type Outcome } from '../api/client.ts'
import { me } from '../api/me.ts'
import { authorWithoutToken, eventWords, KINDS } from '../history/activity.ts'
import { Days } from '../history/days.tsx'
import { authorOf, deedOf } from '../history/history.ts'
import { Chips } from '../kit/chips.tsx'
import { Loaded, useMore } from '../kit/loading.tsx'
import { SearchForm } from '../kit/search-form.tsx'
import { Clock } from '../kit/time.tsx'
import { location, navigate } from '../router.ts'
import { shownName } from '../rrsets/rrset.ts'
import { TypeBadge } from '../rrsets/type-badge.tsx'

type Activity = components['schemas']['Activity']

/** The filters of links to the page. */
const LINKED = ['domain', 'token', 'person'] as const

/** What happened in all domains and to the account, and who did it. */
export function ActivityPage() {
  const { query } = location.value
  const filters = Object.fromEntries(['type', 'search', ...LINKED].map((name) => [name, query.get(name) ?? '']))
  // With the media type of the console's requests, it is a list.
  const ask = (cursor: string) =>
    api.GET('/api/v1/activity/', { params: { query: { cursor, ...filters } } }) as Promise<Outcome<Activity[]>>
  const asked = useMore((cursor) => askPage(ask(cursor)), [query.toString()])
  const show = (changes: Record<string, string>) => {
    const wanted = Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== '')
    navigate(`activity?${new URLSearchParams(wanted).toString()}`)
  }
  return (
    <>
      <SearchForm
        label="Search the activity"
        placeholder="Domain, name or reason"
        asked={filters['search']!}
        onSearch={(search) => {
          show({ search })
        }}
      />
      <Chips
        label="What happened"
        chips={KINDS.map(([view, text]) => ({ view, text }))}
        chosen={filters['type']!}
        onChoose={(type) => {
          show({ type })
        }}
      />
      {LINKED.filter((name) => filters[name] !== '').map((name) => (
        <p key={name}>
          Only {name === 'token' ? 'of one token' : `of ${filters[name]}`}.{' '}
          <button
            class="small"
            onClick={() => {
              show({ [name]: '' })
            }}
          >
            Of all
          </button>
        </p>
      ))}
      <Loaded asked={asked}>
        {(entries) =>
          entries.length === 0 ? (
            <p role="status">{asked.more === undefined ? 'Nothing matches.' : 'None of the latest matches.'}</p>
          ) : (
            <Days entries={entries}>{(entry) => <Line entry={entry} />}</Days>
          )
        }
      </Loaded>
    </>
  )
}

/** Something that happened, and who did it. */
function Line({ entry }: { entry: Activity }) {
  const { created, domain, message, owner, token, address, subject } = entry
  const isOfAccount = subject !== null && token === null
  const author = isOfAccount ? authorWithoutToken(entry) : authorOf(entry, me.value!.account.email)
  return (
    <>
      <p>
        <span class="quiet">
          <Clock at={created} />
        </span>{' '}
        {domain !== null && (
          <>
            <a class="mono" href={placeOf(entry)}>
              {domain}
            </a>{' '}
          </>
        )}
        {subject === null ? <Deeds entry={entry} /> : eventWords(entry)}
      </p>
      <span class="quiet">
        {owner === null ? author : <a href={`activity?person=${encodeURIComponent(owner)}`}>{author}</a>}
        {address !== null && ` from ${address}`}
      </span>
      {message !== null && (
        <p>
          <bdi>{message}</bdi>
        </p>
      )}
    </>
  )
}

/** The page that shows an entry of a domain, or what it is about. */
function placeOf({ id, type, domain, version }: Activity): string {
  if (type === 'domain_deleted') return '?view=deleted'
  return `domains/${domain}${version === null ? (VIEWS[type] ?? '') : `/history?entry=${id}`}`
}

const VIEWS: Record<string, string> = {
  transfers_changed: '/nameservers',
  note_changed: '/settings',
  delegation_changed: '/dnssec',
}

const EVENTS: Record<string, 'creation' | 'deletion' | 'return'> = {
  domain_created: 'creation',
  domain_deleted: 'deletion',
  domain_returned: 'return',
}

/** What changed in a domain. */
function Deeds({ entry }: { entry: Activity }) {
  const { named, rest } = deedOf({ ...entry, count: entry.count ?? 0, event: EVENTS[entry.type] ?? null })
  return (
    <>
      {named.map((change, i) => (
        <span key={i}>
          {i > 0 && ', '}
          <span class="mono">{shownName(change.subname)}</span> <TypeBadge type={change.type} />
        </span>
      ))}
      {named.length > 0 && rest !== '' && ', '}
      {rest}
    </>
  )
}
