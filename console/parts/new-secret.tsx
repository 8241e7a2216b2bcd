import { useEffect, useRef, useState } from 'preact/hooks'
import { API, api, ask } from '../api/client.ts'
import type { NewToken } from '../api/tokens.ts'
import type { Policy } from '../model/policies.ts'
import type { Preset } from '../model/presets.ts'
import { PROGRAMS, snippetsOf, type Program, type ProgramName } from '../model/snippets.ts'
import { Copy } from './copy.tsx'
import { useAsked } from './loading.tsx'
import { Policies, tokenName } from './token.tsx'

interface Props {
  preset: Preset
  token: NewToken
  place: { name: string; domain: string } | undefined
  policies: Policy[]
}

/** The secret of a new token, and how programs use it. It is in this component alone, and gone with it. */
export function NewSecret({ preset, token, place, policies }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current!.focus()
  }, [])
  return (
    <div class="reading">
      <h1 tabIndex={-1} ref={heading}>
        {tokenName(token)}
      </h1>
      <div class="note">
        <p>Copy the secret now. It is not shown again.</p>
        <p>
          <code class="secret">{token.token}</code> <Copy text={token.token} what="the secret" />
        </p>
      </div>
      <Policies policies={policies} />
      {preset.programs.length > 0 ? (
        <Programs names={preset.programs} token={token} place={place} />
      ) : (
        <p>Programs send it in the header “Authorization: Token”, followed by the secret.</p>
      )}
      <p>
        <a href={`tokens/${token.id}`}>Set when it expires, and from where it may be used</a>
      </p>
    </div>
  )
}

interface ProgramsProps extends Pick<Props, 'token' | 'place'> {
  names: ProgramName[]
}

/** The texts for one of the programs, with the secret in them. */
function Programs({ names, token, place }: ProgramsProps) {
  const [name, setName] = useState(names[0]!)
  const nameserver = useAsked(() => nameserverOf(place?.domain), [])
  const { note, variable }: Program = PROGRAMS[name]
  const facts = { url: API, secret: token.token, email: token.owner, place, nameserver: nameserver.value }
  return (
    <>
      <h2>Set up a program</h2>
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
      {variable !== undefined && <p>It takes the secret from the variable {variable} of its environment.</p>}
      {snippetsOf(name, facts).map((text, i, { length }) => (
        <div key={text} class="snippet">
          <pre tabIndex={0} aria-label={`${name}, text ${i + 1} of ${length}`} role="region">
            {text}
          </pre>
          <Copy text={text} what={`text ${i + 1}`} />
        </div>
      ))}
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
