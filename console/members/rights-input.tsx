import type { Member } from '../api/members.ts'
import { DomainsInput } from '../domains/domains-input.tsx'
import type { Action } from '../kit/form.tsx'
import { type Role, ROLES } from '../tokens/rights.ts'

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
        <DomainsInput
          legend="In which domains?"
          domains={domains}
          problems={action.of('domains')}
          onChange={(next) => {
            onChange({ role, domains: next })
          }}
        />
      )}
    </>
  )
}
