import { useEffect, useState } from 'preact/hooks'
import { api, ask, askWhole, versionOf } from '../api/client.ts'
import { domainChanged } from '../domains/domain-header.tsx'
import { serving } from '../domains/serving.ts'
import { useAsked } from '../kit/loading.tsx'
import { Review } from '../kit/review.tsx'
import { counted } from '../rrsets/rrset.ts'

/** Seconds that one question about the publication waits; the API allows 30. */
const WAIT = 20

interface AppliedProps {
  name: string
  /** The version of the write: its header `Zoneplane-Version`. */
  version: number
  /** Called with the version of the undo. */
  onUndone: (version: number | undefined) => void
  onDismiss: (version: undefined) => void
}

/** Follows a write to the nameservers, and offers its undo, until it is dismissed. */
export function Applied({ name, version, onUndone, onDismiss }: AppliedProps) {
  const [isUndoing, setUndoing] = useState(false)
  const path = { name }
  const published = useAsked(async () => {
    const query = { version, wait: WAIT }
    return ask(api.GET('/api/v1/domains/{name}/publication/', { params: { path, query } }))
  }, [name, version])
  const entry = useAsked(async () => {
    const entries = await ask(api.GET('/api/v1/domains/{name}/history/', { params: { path, query: { cursor: '' } } }))
    return entries.find((found) => found.version === version)
  }, [name, version])
  useEffect(domainChanged, [published.value])
  const servers = published.value?.nameservers ?? []
  const isUndo = entry.value?.source === 'undo'
  const served = servers.filter(({ status }) => status === 'INSYNC').length
  return (
    <>
      <div class="bar" role="status">
        <span title={`Version ${version}`}>
          {isUndo ? 'Undone' : 'Applied'}
          {entry.value !== undefined && `: ${counted(entry.value.count, 'change')}`}
          {servers.length > 0 && `, served by ${serving(servers)}`}
        </span>
        {published.value !== undefined && served < servers.length && (
          <button onClick={published.reload}>Look again</button>
        )}
        {entry.value !== undefined && (
          <button
            onClick={() => {
              setUndoing(true)
            }}
          >
            {isUndo ? 'Undo that' : 'Undo'}
          </button>
        )}
        <button
          class="rest"
          onClick={() => {
            onDismiss(undefined)
          }}
        >
          Dismiss
        </button>
      </div>
      {isUndoing && (
        <UndoReview
          name={name}
          id={entry.value!.id}
          onUndone={onUndone}
          onClose={() => {
            setUndoing(false)
          }}
        />
      )}
    </>
  )
}

interface UndoProps {
  name: string
  /** The entry of the history. */
  id: string
  onUndone: AppliedProps['onUndone']
  onClose: () => void
}

/** Reviews the undo of an entry of the history, and applies it. */
export function UndoReview({ name, id, onUndone, onClose }: UndoProps) {
  const undo = (isTrial: boolean) =>
    api.POST('/api/v1/domains/{name}/history/{id}/undo/', {
      params: { path: { name, id }, query: { dry_run: isTrial ? 'true' : 'false' } },
    })
  return (
    <Review
      title={`Undo this change to ${name}`}
      preview={async () => (await ask(undo(true))).changes}
      apply={async () => {
        const { response } = await askWhole(undo(false))
        onClose()
        onUndone(versionOf(response))
      }}
      onClose={onClose}
    />
  )
}
