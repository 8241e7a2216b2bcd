import { useState } from 'preact/hooks'
import { api, ask, askPage, askWhole, versionOf } from '../api/client.ts'
import { me } from '../api/me.ts'
import { allRRsets } from '../api/rrsets.ts'
import type { components } from '../../build/api-types.d.ts'
import { stepWords } from '../model/dnssec.ts'
import { counted } from '../model/rrset.ts'
import { applied } from '../model/state.ts'
import { inOrder } from '../model/order.ts'
import { zoneLines } from '../model/zone-lines.ts'
import { Applied, UndoReview } from '../parts/applied.tsx'
import { Difference } from '../parts/difference.tsx'
import { DomainHeader } from '../parts/domain-header.tsx'
import { Loaded, useAsked, useMore } from '../parts/loading.tsx'
import { Dialog, Review } from '../parts/review.tsx'
import { Time } from '../parts/time.tsx'

type Entry = components['schemas']['Entry']

/** Where a write came from, in words. */
const SOURCES: Record<string, string> = {
  api: 'API',
  dyndns: 'dynamic DNS',
  import: 'creation with a zone file',
  zonefile: 'zone file',
  undo: 'undo',
  restore: 'restored state',
  creation: 'creation',
  operator: 'the operator',
  repair: 'repair of what others had changed in DNS',
}

/** What the page is about to show or change. */
type Open = { what: 'undo' | 'state' | 'restore'; entry: Entry } | undefined

/** Who changed what in a domain, and when; undoes entries, and brings former states back. */
export function HistoryPage({ name }: { name: string }) {
  const [filter, setFilter] = useState({ subname: '', type: '' })
  const [open, setOpen] = useState<Open>()
  const [version, setVersion] = useState<number>()
  const asked = useMore(
    (cursor) => {
      const params = { path: { name }, query: { cursor, ...wanted(filter) } }
      return askPage(api.GET('/api/v1/domains/{name}/history/', { params }))
    },
    [name, filter, version],
  )
  const close = () => {
    setOpen(undefined)
  }
  const onApplied = (published: number | undefined) => {
    close()
    setVersion(published)
  }
  return (
    <>
      <DomainHeader name={name} />
      <Filter onFilter={setFilter} />
      <Loaded asked={asked}>
        {(entries) =>
          entries.length === 0 ? (
            <p role="status">No change matches.</p>
          ) : (
            <ol class="entries">
              {entries.map((entry) => (
                <EntryItem key={entry.id} name={name} entry={entry} onOpen={setOpen} />
              ))}
            </ol>
          )
        }
      </Loaded>
      {version !== undefined && <Applied name={name} version={version} onUndone={setVersion} />}
      {open?.what === 'undo' && <UndoReview name={name} id={open.entry.id} onUndone={onApplied} onClose={close} />}
      {open?.what === 'state' && <FormerState name={name} entry={open.entry} onClose={close} />}
      {open?.what === 'restore' && (
        <Review
          title={`Bring back the state of version ${open.entry.version}`}
          preview={() => changesTo(name, open.entry.version)}
          apply={async () => {
            onApplied(versionOf((await askWhole(restore(name, open.entry.version, 'false'))).response))
          }}
          onClose={close}
        />
      )}
    </>
  )
}

/** The filters that are given; a name `@` is the apex. */
function wanted({ subname, type }: { subname: string; type: string }) {
  return {
    ...(subname.trim() !== '' && { subname: subname.trim() === '@' ? '' : subname.trim() }),
    ...(type.trim() !== '' && { type: type.trim().toUpperCase() }),
  }
}

function Filter({ onFilter }: { onFilter: (filter: { subname: string; type: string }) => void }) {
  const [subname, setSubname] = useState('')
  const [type, setType] = useState('')
  return (
    <form
      class="tools"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        onFilter({ subname, type })
      }}
    >
      <label>
        Name{' '}
        <input
          value={subname}
          placeholder="@, www"
          onInput={(event) => {
            setSubname(event.currentTarget.value)
          }}
        />
      </label>
      <label>
        Type{' '}
        <input
          value={type}
          size={8}
          placeholder="MX"
          onInput={(event) => {
            setType(event.currentTarget.value)
          }}
        />
      </label>
      <button>Filter</button>
    </form>
  )
}

function EntryItem({ name, entry, onOpen }: { name: string; entry: Entry; onOpen: (open: Open) => void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <details
        onToggle={(event) => {
          setOpen(event.currentTarget.open)
        }}
      >
        <summary>
          <Time at={entry.created} /> · {wordsOf(entry)}
        </summary>
        {isOpen && <Details name={name} entry={entry} onOpen={onOpen} />}
      </details>
    </li>
  )
}

/** `2 RRsets by token “ci” (API)`, or the step of a rollover and who took it, if it was not the service. */
function wordsOf({ source, token, owner, count, rollover }: Entry): string {
  const isOther = owner !== null && owner !== me.value?.account.email
  const name = token?.name
  const by = name === null ? 'a token that was deleted' : name === '' ? 'a token' : `token “${name}”`
  const who = token === null ? undefined : `${by}${isOther ? ` of ${owner}` : ''}`
  if (rollover !== null) return stepWords(rollover) + (who === undefined ? '' : ` By ${who}.`)
  const words = SOURCES[source] ?? source
  return `${counted(count, 'RRset')} by ${who === undefined ? words : `${who} (${words})`}`
}

function Details({ name, entry, onOpen }: { name: string; entry: Entry; onOpen: (open: Open) => void }) {
  const asked = useAsked(
    () => ask(api.GET('/api/v1/domains/{name}/history/{id}/', { params: { path: { name, id: entry.id } } })),
    [entry.id],
  )
  return (
    <>
      {entry.rollover === null && <Loaded asked={asked}>{({ changes }) => <Difference changes={changes} />}</Loaded>}
      <p class="quiet">
        Version {entry.version}
        {entry.request_id !== null && (
          <>
            , request <code>{entry.request_id}</code>
          </>
        )}
      </p>
      <p class="buttons">
        {!['repair', 'creation', 'rollover'].includes(entry.source) && (
          <button
            onClick={() => {
              onOpen({ what: 'undo', entry })
            }}
          >
            Undo this change
          </button>
        )}
        <button
          onClick={() => {
            onOpen({ what: 'state', entry })
          }}
        >
          Show the zone as it was
        </button>
        <button
          onClick={() => {
            onOpen({ what: 'restore', entry })
          }}
        >
          Bring that state back
        </button>
      </p>
    </>
  )
}

function restore(name: string, version: number, trial: 'true' | 'false') {
  return api.POST('/api/v1/domains/{name}/restore/', {
    params: { path: { name }, query: { dry_run: trial } },
    body: { version },
  })
}

/** What would bring the state of a version back. */
async function changesTo(name: string, version: number) {
  return (await ask(restore(name, version, 'true'))).changes
}

/** The zone after an entry, as zone file lines. */
function FormerState({ name, entry, onClose }: { name: string; entry: Entry; onClose: () => void }) {
  const asked = useAsked(async () => {
    const [rrsets, changes] = await Promise.all([allRRsets(name), changesTo(name, entry.version)])
    return zoneLines(name, inOrder(applied(rrsets, changes)))
  }, [])
  return (
    <Dialog title={`${name} after version ${entry.version}`} onClose={onClose}>
      <Loaded asked={asked}>
        {(text) => <textarea readOnly rows={20} aria-label="Zone file lines" value={text} />}
      </Loaded>
      <p class="buttons">
        <button onClick={onClose}>Back</button>
      </p>
    </Dialog>
  )
}
