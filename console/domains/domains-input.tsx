import { useState } from 'preact/hooks'
import { domainsWith } from '../api/domains.ts'
import { Checkbox, Field } from '../kit/form.tsx'
import { Loaded, useAsked } from '../kit/loading.tsx'

interface Props {
  legend: string
  /** The names of those that are chosen; null: all. */
  domains: string[] | null
  problems: string[]
  onChange: (domains: string[] | null) => void
}

/** The choice of all domains, or of some. */
export function DomainsInput({ legend, domains, problems, onChange }: Props) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {(['All domains, also later ones', 'Only those chosen here'] as const).map((text, i) => (
        <label key={text}>
          <input
            type="radio"
            name="domains"
            checked={(domains === null) === (i === 0)}
            onChange={() => {
              onChange(i === 0 ? null : [])
            }}
          />
          {text}
        </label>
      ))}
      {domains !== null && <ChosenDomains chosen={domains} problems={problems} onChoose={onChange} />}
    </fieldset>
  )
}

interface ChosenProps {
  chosen: string[]
  problems: string[]
  onChoose: (chosen: string[]) => void
}

/** The domains that are chosen, and those that a filter finds. */
function ChosenDomains({ chosen, problems, onChoose }: ChosenProps) {
  const [search, setSearch] = useState('')
  const asked = useAsked(() => domainsWith(search.trim().toLowerCase()), [search])
  return (
    <>
      <Field label="Find a domain" value={search} onText={setSearch} problems={problems} />
      <Loaded asked={asked}>
        {({ items }) => (
          <div class="chosen">
            {[...new Set([...chosen, ...items.map(({ name }) => name)])].map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={chosen.includes(name)}
                onCheck={(isChecked) => {
                  onChoose(isChecked ? [...chosen, name] : chosen.filter((other) => other !== name))
                }}
              />
            ))}
          </div>
        )}
      </Loaded>
    </>
  )
}
