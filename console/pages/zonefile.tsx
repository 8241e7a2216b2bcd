import { useEffect, useState } from 'preact/hooks'
import { api, ask, askWhole, versionOf } from '../api/client.ts'
import { Applied } from '../parts/applied.tsx'
import { DomainHeader } from '../parts/domain-header.tsx'
import { Loaded, useAsked } from '../parts/loading.tsx'
import { Review } from '../parts/review.tsx'
import { ZonefileInput } from '../parts/zonefile-input.tsx'

/** The whole zone as text: shown, edited, replaced by a file, downloaded. */
export function ZonefilePage({ name }: { name: string }) {
  const [version, setVersion] = useState<number>()
  const asked = useAsked(
    () => ask(api.GET('/api/v1/domains/{name}/zonefile/', { params: { path: { name } }, parseAs: 'text' })),
    [name, version],
  )
  return (
    <>
      <DomainHeader name={name} />
      <p>
        Edit the zone file, or drop one here. RRsets that it lacks are deleted; without NS at the apex, those there
        stay. SOA and DNSSEC records are the service’s.
      </p>
      <Loaded asked={asked}>{(text) => <Editor key={text} name={name} text={text} onApplied={setVersion} />}</Loaded>
      {version !== undefined && <Applied name={name} version={version} onUndone={setVersion} />}
    </>
  )
}

function Editor(props: { name: string; text: string; onApplied: (version: number | undefined) => void }) {
  const { name, onApplied } = props
  const [text, setText] = useState(props.text)
  const [isReviewed, setReviewed] = useState(false)
  const put = (trial: 'true' | 'false') =>
    api.PUT('/api/v1/domains/{name}/zonefile/', {
      params: { path: { name }, query: { dry_run: trial } },
      headers: { 'Content-Type': 'text/dns' },
      body: text,
      bodySerializer: (body) => body,
    })
  return (
    <>
      <ZonefileInput label="Zone file" rows={24} text={text} onText={setText} />
      <p class="buttons">
        <button
          class="main"
          disabled={text === props.text}
          onClick={() => {
            setReviewed(true)
          }}
        >
          Review
        </button>
        <button
          disabled={text === props.text}
          onClick={() => {
            setText(props.text)
          }}
        >
          Discard
        </button>
        <Download name={`${name}.zone`} text={props.text} />
      </p>
      {isReviewed && (
        <Review
          title={`Changes to ${name}`}
          preview={async () => (await ask(put('true'))).changes}
          apply={async () => {
            onApplied(versionOf((await askWhole(put('false'))).response))
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
