import { endMembership, memberships } from '../api/members.ts'
import { Act, Refusal, useAction } from '../kit/form.tsx'
import { Panel } from '../kit/panel.tsx'
import { ROLES } from '../tokens/rights.ts'

/** The accounts for which one may act, and the way out of them. */
export function OwnMemberships() {
  const action = useAction()
  const list = memberships.value ?? []
  const leave = async (id: string, account: string) => {
    if (window.confirm(`Leave ${account}? The API tokens that you have made for it end.`)) await endMembership(id)
  }
  if (list.length === 0) return null
  return (
    <Panel title="Member of">
      <Refusal of={action} />
      <ul class="factors">
        {list.map(({ id, account, role }) => (
          <li key={id}>
            <b>{account}</b> <span class="quiet">{ROLES[role].title}</span>
            <span class="deeds">
              <Act class="small" action={action} work={() => leave(id, account)} aria-label={`Leave ${account}`}>
                Leave
              </Act>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
