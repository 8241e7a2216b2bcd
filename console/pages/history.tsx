import { useState } from 'preact/hooks'
import type { components } from '../../build/api-types.d.ts'
import { api, ask, askPage, askWhole, versionOf } from '../api/client.ts'
import { changesOf } from '../api/history.ts'
import { mayChange, me } from '../api/me.ts'
import { allRRsets } from '../api/rrsets.ts'
import { Days } from '../history/days.tsx'
import { authorOf, deedOf, reversed, searchFor, valuesIn } from '../history/history.ts'
import { Loaded, useAsked, useMore } from '../kit/loading.tsx'
import { Opened } from '../kit/opened.tsx'
import { Dialog, Review } from '../kit/review.tsx'
import { SearchForm } from '../kit/search-form.tsx'
import { Clock } from '../kit/time.tsx'
import { Applied, UndoReview } from '../records/applied.tsx'
import { stageElsewhere } from '../records/staging.ts'
import { location, navigate } from '../router.ts'
import { Difference } from '../rrsets/difference.tsx'
import { inOrder } from '../rrsets/order.ts'
import { type Change, shownName, verbFor } from '../rrsets/rrset.ts'
import { applied } from '../rrsets/state.ts'
import { TypeBadge } from '../rrsets/type-badge.tsx'
import { zoneLines } from '../rrsets/zone-lines.ts'

type Entry = components['schemas']['Entry']

/** What the page is about to change, or the version of the state that it shows. */
type Open = { undo: Entry } | { state: number; title: string } | { restore: number } | undefined

/** Who changed what in a domain, and when; undoes entries, and brings former states back. */
export function HistoryPage({ name }: { name: string }) {
  const search = location.value.query.get('search') ?? ''
  /** The entry that a link names. */
  const id = location.value.query.get('entry')
  const [open, setOpen] = useState<Open>()
  const [version, setVersion] = useState<number>()
  const asked = useMore(
    async (cursor) => {
      const path = { name }
      if (id === null) {
        const query = { cursor, search }
        return askPage(api.GET('/api/v1/domains/{name}/history/', { params: { path, query } }))
      }
      const only = api.GET('/api/v1/domains/{name}/history/{id}/', { params: { path: { name, id } } })
      return { items: [await ask(only)], next: undefined }
    },
    [name, search, id, version],
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
      <SearchForm
        label="Search the history"
        placeholder="Name, type, author or reason"
        asked={search}
        onSearch={(text) => {
          navigate(pathFor(name, text))
        }}
      />
      {id !== null && (
        <p>
          One change. <a href={pathFor(name, '')}>Show all</a>
        </p>
      )}
      <Loaded asked={asked}>
        {(entries) =>
          entries.length === 0 ? (
            <p role="status">
              {asked.more === undefined ? 'No change matches.' : 'None of the latest changes matches.'}
            </p>
          ) : (
            <Days entries={entries}>{(entry) => <EntryItem name={name} entry={entry} onOpen={setOpen} />}</Days>
          )
        }
      </Loaded>
      {version !== undefined && <Applied name={name} version={version} onUndone={setVersion} onDismiss={setVersion} />}
      {open !== undefined && 'undo' in open && (
        <UndoReview name={name} id={open.undo.id} onUndone={onApplied} onClose={close} />
      )}
      {open !== undefined && 'state' in open && (
        <FormerState
          name={name}
          version={open.state}
          title={open.title}
          onRestore={() => {
            setOpen({ restore: open.state })
          }}
          onClose={close}
        />
      )}
      {open !== undefined && 'restore' in open && (
        <Review
          title={`Restore a former state of ${name}`}
          preview={() => changesTo(name, open.restore)}
          apply={async () => {
            onApplied(versionOf((await askWhole(restore(name, open.restore, 'false'))).response))
          }}
          onClose={close}
        />
      )}
    </>
  )
}

/** The path of the entries that a search finds. */
function pathFor(name: string, search: string): string {
  return `domains/${name}/history${search && `?${new URLSearchParams({ search })}`}`
}

function EntryItem({ name, entry, onOpen }: { name: string; entry: Entry; onOpen: (open: Open) => void }) {
  const { named, rest } = deedOf(entry)
  const { account, token } = me.value!
  const author = authorOf(entry, account.email)
  // Tokens of others, and those that are gone, have no page here.
  const hasPage = token.perm_manage_tokens && entry.owner === account.email && entry.token?.name != null
  const page = `tokens/${entry.token?.id}`
  const search = searchFor(entry, account.email)
  const summary = (
    <>
      <span class="quiet">
        <Clock at={entry.created} />
      </span>{' '}
      {named.map((change, i) => (
        <span key={i}>
          {i > 0 && ', '}
          <span class="mono">{shownName(change.subname)}</span> <TypeBadge type={change.type} />{' '}
          <Deed change={change} isShort={entry.count > 2} />
        </span>
      ))}
      {named.length > 0 && rest !== '' && ', '}
      {rest}
    </>
  )
  return (
    <>
      <Opened summary={summary}>
        <Details name={name} entry={entry} onOpen={onOpen} />
      </Opened>
      <span class="quiet">
        {search ? (
          <>
            <a href={pathFor(name, search)}>{author}</a>
            {hasPage && (
              <>
                {' · '}
                <a href={page}>Token</a>
              </>
            )}
          </>
        ) : hasPage ? (
          <a href={page}>{author}</a>
        ) : (
          author
        )}
      </span>
      {entry.message !== null && (
        <p>
          <bdi>{entry.message}</bdi>
        </p>
      )}
      {entry.trimmed && <p class="quiet">Older changes are gone: the histories of this account were too large.</p>}
    </>
  )
}

/** What a change did, with its values if there is room. */
function Deed({ change, isShort }: { change: Change; isShort: boolean }) {
  const verb = verbFor(change)
  const values = isShort ? '' : valuesIn(change)
  return (
    <>
      {(verb !== 'changed' || values === '') && verb}
      {values && <span class="mono quiet"> {values}</span>}
    </>
  )
}

function Details({ name, entry, onOpen }: { name: string; entry: Entry; onOpen: (open: Open) => void }) {
  const { id, version, source, event, rollover, trimmed } = entry
  const asked = useAsked(async () => entry.changes ?? changesOf(name, id), [id])
  const states = [
    ...(event === 'creation' || event === 'return' || trimmed ? [] : ([['before', version - 1]] as const)),
    ...(event === 'deletion' ? [] : ([['after', version]] as const)),
  ]
  /** Stages what would undo the entry, so that one can choose; what has changed since is asked about there. */
  const stage = () => {
    stageElsewhere(
      name,
      asked.value!.map(reversed).map(({ before: base, ...edit }) => ({ ...edit, base })),
    )
    navigate(`domains/${name}?undo`)
  }
  return (
    <>
      {rollover === null && <Loaded asked={asked}>{(changes) => <Difference changes={changes} />}</Loaded>}
      <p class="quiet">
        Version {version}
        {entry.token?.name != null && entry.owner !== me.value!.account.email && `, token “${entry.token.name}”`}
        {entry.request_id !== null && (
          <>
            , request <code>{entry.request_id}</code>
          </>
        )}
      </p>
      {rollover === null && (
        <p class="buttons">
          {mayChange(name) && event === null && source !== 'repair' && (
            <>
              <button
                onClick={() => {
                  onOpen({ undo: entry })
                }}
              >
                Undo this change
              </button>
              {entry.count > 1 && (
                <button disabled={asked.value === undefined} onClick={stage}>
                  Undo a part of it
                </button>
              )}
            </>
          )}
          {states.map(([when, state]) => (
            <button
              key={when}
              onClick={() => {
                onOpen({ state, title: `${name} ${when} this change` })
              }}
            >
              Show the zone {when} it
            </button>
          ))}
        </p>
      )}
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

interface FormerProps {
  name: string
  version: number
  title: string
  onRestore: () => void
  onClose: () => void
}

/** The zone as it was with a version: as zone file lines, and what has changed since. */
function FormerState({ name, version, title, onRestore, onClose }: FormerProps) {
  const asked = useAsked(() => Promise.all([allRRsets(name), changesTo(name, version)]), [])
  return (
    <Dialog title={title} onClose={onClose}>
      <Loaded asked={asked}>
        {([rrsets, changes]) => (
          <>
            <textarea
              readOnly
              rows={12}
              aria-label="Zone file lines"
              value={zoneLines(name, inOrder(applied(rrsets, changes)))}
            />
            <h3>What has changed since</h3>
            {changes.length === 0 ? <p>Nothing.</p> : <Difference changes={changes.map(reversed)} />}
          </>
        )}
      </Loaded>
      <p class="buttons">
        {mayChange(name) && <button onClick={onRestore}>Restore this state</button>}
        <button onClick={onClose}>Close</button>
      </p>
    </Dialog>
  )
}
