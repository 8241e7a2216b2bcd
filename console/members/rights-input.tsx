import { useState } from 'preact/hooks'
import { domainsWith } from '../api/domains.ts'
import type { Member } from '../api/members.ts'
import { type Role, ROLES } from '../model/rights.ts'
import { type Action, Checkbox, Field } from '../parts/form.tsx'
import { Loaded, useAsked } from '../parts/loading.tsx'

/** What a member may do, and where. */
export type Rights = Pick<Member, 'role' | 'domains'>

interface Props {
  rights: Rights
  action: Action
  onChange: (rights: Rights) => void
}

/** The inputs of a role, and of the domains that the member sees. */
export function RightsInput({ rights, action, onChange }: Props) {
  const { role, domains } = rights
  return (
    <>
      <fieldset class="choices">
        <legend>What may the member do?</legend>
        {Object.entries(ROLES).map(([each, { title, text }]) => (
          <label key={each} class="panel">
            <input
              type="radio"
              name="role"
              checked={each === role}
              onChange={() => {
                onChange({ role: each as Role, domains: each === 'admin' ? null : domains })
              }}
            />
            <span>
              <b>{title}</b>
              <span>{text}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {role !== 'admin' && (
        <fieldset class="choices">
          <legend>In which domains?</legend>
          {(['All domains, also later ones', 'Only those chosen here'] as const).map((text, i) => (
            <label key={text}>
              <input
                type="radio"
                name="domains"
                checked={(domains === null) === (i === 0)}
                onChange={() => {
                  onChange({ role, domains: i === 0 ? null : [] })
                }}
              />
              {text}
            </label>
          ))}
          {domains !== null && (
            <ChosenDomains
              chosen={domains}
              problems={action.of('domains')}
              onChoose={(next) => {
                onChange({ role, domains: next })
              }}
            />
          )}
        </fieldset>
      )}
    </>
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
