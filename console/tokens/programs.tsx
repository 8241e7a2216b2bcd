import { useState } from 'preact/hooks'
import { API } from '../api/client.ts'
import { nameserversOf } from '../api/rrsets.ts'
import { Copy } from '../kit/copy.tsx'
import { useAsked } from '../kit/loading.tsx'
import { type Facts, type ProgramName, programOf, snippetsOf } from './snippets.ts'

interface Props extends Pick<Facts, 'secret' | 'keyName' | 'email' | 'place'> {
  names: ProgramName[]
}

/** The texts for one of the programs, with the secret in them. */
export function Programs({ names, ...known }: Props) {
  const [name, setName] = useState(names[0]!)
  const domain = known.place?.domain
  const nameservers = useAsked(async () => (domain === undefined ? [] : nameserversOf(domain)), [domain])
  const { note, isForm } = programOf(name)
  const texts = snippetsOf(name, { ...known, url: API, nameserver: nameservers.value?.[0] })
  return (
    <>
      <div class="field">
        <label for="program">Program</label>
        <select
          id="program"
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value as ProgramName)
          }}
        >
          {names.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      {note !== undefined && <p>{note}</p>}
      {(isForm === true ? texts[0]!.trim().split('\n') : texts).map((whole, i, { length }) => {
        const [label, text = whole] = isForm === true ? whole.split(/ {2,}/) : []
        return (
          <Snippet
            key={whole}
            label={label}
            text={text}
            name={`${name}, ${label ?? `text ${i + 1} of ${length}`}`}
            what={label ?? `text ${i + 1}`}
          />
        )
      })}
    </>
  )
}

interface SnippetProps {
  text: string
  /** For whom does not see it. */
  name: string
  /** The text, as the button says it. */
  what: string
  label?: string | undefined
}

/** A text to copy. */
export function Snippet({ text, name, what, label }: SnippetProps) {
  return (
    <div class="snippet">
      {label !== undefined && <span>{label}</span>}
      <pre tabIndex={0} aria-label={name} role="region">
        {text}
      </pre>
      <Copy text={text} what={what} />
    </div>
  )
}
