import { useEffect, useState } from 'preact/hooks'
import { api, ask, askWhole, problemsOf, type Refused, versionOf } from '../api/client.ts'
import { readDomain } from '../api/domains.ts'
import { mayChange, me } from '../api/me.ts'
import { draftKey, useKept } from '../kept.ts'
import { judged, mistakesOf } from '../model/zonefile.ts'
import { Applied } from '../parts/applied.tsx'
import { Loaded, useAsked } from '../parts/loading.tsx'
import { Review } from '../parts/review.tsx'
import { usePaused } from '../parts/use-paused.ts'
import { focusMistakes, ZonefileInput } from '../parts/zonefile-input.tsx'

/** The whole zone as text: shown, edited, replaced by a file, downloaded. */
export function ZonefilePage({ name }: { name: string }) {
  const [version, setVersion] = useState<number>()
  const [edited, setEdited] = useKept<Edited>(draftKey(me.value!.account.email, 'zone file', name))
  const asked = useAsked(async () => {
    // What changes between the two has another tag, so that no write builds on it.
    const { tag } = await readDomain(name)
    const params = { path: { name } }
    return { tag, text: await ask(api.GET('/api/v1/domains/{name}/zonefile/', { params, parseAs: 'text' })) }
  }, [name, version])
  return (
    <>
      <p hidden={!mayChange(name)}>
        Edit the zone file, or drop one here. <b>Record sets that it lacks are deleted</b>; only NS at {name} stay if it
        has none. The service itself writes SOA and all DNSSEC records but DS: those of the file are left out.
      </p>
      {version !== undefined && <Applied name={name} version={version} onUndone={setVersion} onDismiss={setVersion} />}
      <Loaded asked={asked}>
        {({ tag, text }) => (
          <Editor
            key={tag}
            name={name}
            tag={tag}
            present={text}
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
  edited: Edited | undefined
  onEdit: (edited: Edited | undefined) => void
  /** Called when somebody has changed the domain meanwhile. */
  onStale: () => void
  onApplied: (version: number | undefined) => void
}

function Editor({ name, tag, present, edited, onEdit, onStale, onApplied }: EditorProps) {
  const [isReviewed, setReviewed] = useState(false)
  const text = edited?.text ?? present
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
      return await askWhole(
        api.PUT('/api/v1/domains/{name}/zonefile/', {
          params: { path: { name }, query: { dry_run: trial }, header: { 'If-Match': tag } },
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
          onEdit(typed === present ? undefined : { text: typed, tag: edited?.tag ?? tag })
        }}
      />
      {isReviewed && (
        <Review
          title={`Changes to ${name}`}
          preview={async () => (await put('true')).data.changes}
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
