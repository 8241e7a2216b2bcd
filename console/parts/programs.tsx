import { useState } from 'preact/hooks'
import { API } from '../api/client.ts'
import { nameserversOf } from '../api/rrsets.ts'
import { type Facts, type Program, type ProgramName, PROGRAMS, snippetsOf } from '../model/snippets.ts'
import { Copy } from './copy.tsx'
import { useAsked } from './loading.tsx'

interface Props extends Pick<Facts, 'secret' | 'email' | 'place'> {
  names: ProgramName[]
}

/** The texts for one of the programs, with the secret in them. */
export function Programs({ names, ...known }: Props) {
  const [name, setName] = useState(names[0]!)
  const domain = known.place?.domain
  const nameservers = useAsked(async () => (domain === undefined ? [] : nameserversOf(domain)), [domain])
  const { note, isForm }: Program = PROGRAMS[name]
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
          <div key={whole} class="snippet">
            {label !== undefined && <span>{label}</span>}
            <pre tabIndex={0} aria-label={`${name}, ${label ?? `text ${i + 1} of ${length}`}`} role="region">
              {text}
            </pre>
            <Copy text={text} what={label ?? `text ${i + 1}`} />
          </div>
        )
      })}
    </>
  )
}
