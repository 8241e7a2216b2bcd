import { useState } from 'preact/hooks'
import { API, api, ask } from '../api/client.ts'
import { PROGRAMS, snippetsOf, type Facts, type Program, type ProgramName } from '../model/snippets.ts'
import { Copy } from './copy.tsx'
import { useAsked } from './loading.tsx'

interface Props extends Pick<Facts, 'secret' | 'email' | 'place'> {
  names: ProgramName[]
}

/** The texts for one of the programs, with the secret in them. */
export function Programs({ names, ...known }: Props) {
  const [name, setName] = useState(names[0]!)
  const nameserver = useAsked(() => nameserverOf(known.place?.domain), [])
  const { note, isForm }: Program = PROGRAMS[name]
  const texts = snippetsOf(name, { ...known, url: API, nameserver: nameserver.value })
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
            {label}
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

/** A nameserver of a domain, for programs that ask it; undefined if the domain names none. */
async function nameserverOf(name: string | undefined): Promise<string | undefined> {
  if (name === undefined) return undefined
  const query = { subname: '', type: 'NS' }
  const [found] = await ask(api.GET('/api/v1/domains/{name}/rrsets/', { params: { path: { name }, query } }))
  return found?.records[0]?.replace(/\.$/, '')
}
