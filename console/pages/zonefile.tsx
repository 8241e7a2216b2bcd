import { useEffect, useState } from 'preact/hooks'
import { api, ask, askWhole, problemsOf, type Refused, versionOf } from '../api/client.ts'
import { readDomain } from '../api/domains.ts'
import { mayChange, me } from '../api/me.ts'
import { draftKey, useKept } from '../kept.ts'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { Review } from '../kit/review.tsx'
import { usePaused } from '../kit/use-paused.ts'
import { Applied } from '../records/applied.tsx'
import { type Change, counted } from '../rrsets/rrset.ts'
import { additionsTo, judged, mistakesOf } from '../rrsets/zonefile.ts'
import { focusMistakes, ZonefileInput } from '../rrsets/zonefile-input.tsx'

/** The whole zone as text: shown, edited, replaced by a file, downloaded. */
export function ZonefilePage({ name }: { name: string }) {
  const [version, setVersion] = useState<number>()
  const { email } = me.value!.account
  const replacement = useKept<Edited>(draftKey(email, 'zone file', name))
  const additions = useKept<Edited>(draftKey(email, 'additions', name))
  const [isAdding, setAdding] = useState(additions[0] !== undefined)
  const [edited, setEdited] = isAdding ? additions : replacement
  const asked = useAsked(async () => {
    // What changes between the two has another tag, so that no write builds on it.
    const { tag, minimumTtl } = await readDomain(name)
    const params = { path: { name } }
    const text = await ask(api.GET('/api/v1/domains/{name}/zonefile/', { params, parseAs: 'text' }))
    return { tag, minimumTtl, text }
  }, [name, version])
  return (
    <>
      <fieldset class="choices" hidden={!mayChange(name)}>
        <legend>What shall the text do?</legend>
        {WAYS.map(([title, what], i) => (
          <label key={title}>
            <input
              type="radio"
              name="way"
              checked={isAdding === (i === 1)}
              onChange={() => {
                setAdding(i === 1)
              }}
            />{' '}
            <span>
              <b>{title}</b>: {what}
            </span>
          </label>
        ))}
      </fieldset>
      <p hidden={!mayChange(name)}>
        Type it, or drop a file here. The service itself writes SOA and all DNSSEC records but DS: those of the file are
        left out.
      </p>
      {version !== undefined && <Applied name={name} version={version} onUndone={setVersion} onDismiss={setVersion} />}
      <Loaded asked={asked}>
        {({ tag, minimumTtl, text }) => (
          <Editor
            key={`${tag} ${isAdding}`}
            name={name}
            tag={tag}
            present={text}
            additionsTtl={isAdding ? minimumTtl : undefined}
            edited={edited}
            onEdit={setEdited}
            onStale={asked.reload}
            onApplied={setVersion}
          />
        )}
      </Loaded>
    </>
  )
}

/** What a text can do with the zone. */
const WAYS = [
  [
    'Replace the zone',
    'record sets that the text lacks are deleted; only NS of the domain itself stay if it has none.',
  ],
  ['Add to the zone', 'what is there stays. The text brings record sets, and records of those that are there.'],
] as const

/** A text that somebody has edited, and the ETag of the domain when that began. */
interface Edited {
  text: string
  tag: string
}

interface EditorProps {
  name: string
  /** The domain's ETag, and its zone file. */
  tag: string
  present: string
  /** The TTL of added record sets for which the text gives none; undefined: the text replaces the zone. */
  additionsTtl: number | undefined
  edited: Edited | undefined
  onEdit: (edited: Edited | undefined) => void
  /** Called when somebody has changed the domain meanwhile. */
  onStale: () => void
  onApplied: (version: number | undefined) => void
}

function Editor({ name, tag, present, additionsTtl, edited, onEdit, onStale, onApplied }: EditorProps) {
  const [isReviewed, setReviewed] = useState(false)
  /** How many record sets the review has found to be deleted. */
  const [deleted, setDeleted] = useState(0)
  const isAdding = additionsTtl !== undefined
  const beginning = isAdding ? '' : present
  const text = edited?.text ?? beginning
  const mayEdit = mayChange(name)
  const found = usePaused(() => (edited === undefined ? undefined : judged(edited.text, name)), [edited?.text])
  /** What the service has rejected, and why. */
  const [refused, setRefused] = useState({ text: '', problems: [] as string[] })
  const mistakes =
    found === undefined || found.mistakes.length > 0 || refused.text !== text
      ? (found?.mistakes ?? [])
      : mistakesOf(refused.problems, text, name)
  useEffect(() => {
    if (refused.problems.length > 0) focusMistakes()
  }, [refused])
  const discard = () => {
    onEdit(undefined)
  }
  const put = async (trial: 'true' | 'false') => {
    try {
      const params = { path: { name }, query: { dry_run: trial }, header: { 'If-Match': tag } }
      if (isAdding) {
        const body = additionsTo(present, text, name, additionsTtl)
        return await askWhole(api.PATCH('/api/v1/domains/{name}/rrsets/', { params, body }))
      }
      return await askWhole(
        api.PUT('/api/v1/domains/{name}/zonefile/', {
          params,
          headers: { 'Content-Type': 'text/dns' },
          body: text,
          bodySerializer: (body) => body,
        }),
      )
    } catch (reason) {
      if ((reason as Refused).status === 412) onStale()
      const problems = problemsOf(reason, 'zonefile')
      if (problems.length > 0) {
        setRefused({ text, problems })
        setReviewed(false)
      }
      throw reason
    }
  }
  return (
    <>
      {edited !== undefined && edited.tag !== tag && (
        <p class="alert" role="alert">
          {name} has changed meanwhile. Your text is kept: the review shows what it would undo.
        </p>
      )}
      <p class="tools">
        <button
          class="main"
          hidden={!mayEdit}
          disabled={edited === undefined}
          onClick={() => {
            // What is shown may be about the text of a moment ago.
            if (mistakes.length > 0 && judged(text, name).mistakes.length > 0) focusMistakes()
            else setReviewed(true)
          }}
        >
          Review
        </button>
        <button hidden={!mayEdit} disabled={edited === undefined} onClick={discard}>
          Discard
        </button>
        <Download name={`${name}.zone`} text={present} />
      </p>
      <ZonefileInput
        label="Zone file"
        rows={24}
        text={text}
        judged={edited && found && { ...found, mistakes }}
        isFixed={!mayEdit}
        onText={(typed) => {
          onEdit(typed === beginning ? undefined : { text: typed, tag: edited?.tag ?? tag })
        }}
      />
      {isReviewed && (
        <Review
          title={deleted > 0 ? `Deletes ${counted(deleted, 'record set')} of ${name}` : `Changes to ${name}`}
          preview={async () => {
            if (isAdding && additionsTo(present, text, name, additionsTtl).length === 0) return []
            const { changes } = (await put('true')).data as { changes: Change[] }
            setDeleted(changes.filter(({ after }) => after === null).length)
            return changes
          }}
          apply={async () => {
            const { response } = await put('false')
            discard()
            onApplied(versionOf(response))
          }}
          onClose={() => {
            setReviewed(false)
          }}
        />
      )}
    </>
  )
}

/** A link that stores a text as a file. */
function Download({ name, text }: { name: string; text: string }) {
  const [url, setUrl] = useState('')
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([text], { type: 'text/dns' }))
    setUrl(made)
    return () => {
      URL.revokeObjectURL(made)
    }
  }, [text])
  return (
    <a class="button" href={url} download={name}>
      Download
    </a>
  )
}
