import { checkDelegation, type Overview } from '../api/domains.ts'
import { me } from '../api/me.ts'
import { shortState, SUSPENDED, UNCHECKED } from '../dnssec/dnssec.ts'
import { authorOf } from '../history/history.ts'
import { Act, Refusal, useAction } from '../kit/form.tsx'
import { List } from '../kit/list.tsx'
import { State } from '../kit/state.tsx'
import { Ago } from '../kit/time.tsx'
import { stateOf } from './domains.ts'

interface DomainTableProps {
  domains: Overview[]
  /** Called when the delegation of one has been checked. */
  onChecked: () => void
}

/** Domains with their states and their last changes. */
export function DomainTable({ domains, onChecked }: DomainTableProps) {
  return (
    <div class="domains">
      <List heads={['Domain', 'State', 'Record sets', 'Last change', 'By']}>
        {domains.map((domain) => (
          <tr key={domain.name}>
            <td>
              <a class="mono" href={`domains/${domain.name}`}>
                {domain.name}
              </a>
            </td>
            <td class="words">
              <Delegation name={domain.name} state={stateOf(domain)} onChecked={onChecked} />
            </td>
            <td class="quiet">
              {domain.rrsets.toLocaleString('en')}
              <span class="on-phone"> record {domain.rrsets === 1 ? 'set' : 'sets'}</span>
            </td>
            <td class="quiet">
              <Ago at={domain.last_change?.created ?? domain.published} />
            </td>
            <td class="quiet">{domain.last_change && authorOf(domain.last_change, me.value!.account.email)}</td>
          </tr>
        ))}
      </List>
    </div>
  )
}

/** The state of a delegation, with the way to what can be done about it. */
function Delegation({ name, state, onChecked }: { name: string; state: string; onChecked: () => void }) {
  const { short, ...look } = shortState(state)
  const shown = <State {...look}>{short}</State>
  if (state === UNCHECKED)
    return (
      <>
        {shown} <CheckNow name={name} onChecked={onChecked} />
      </>
    )
  return ['secure', 'unknown', SUSPENDED].includes(state) ? shown : <a href={`domains/${name}/dnssec`}>{shown}</a>
}

function CheckNow({ name, onChecked }: { name: string; onChecked: () => void }) {
  const action = useAction()
  const check = async () => {
    await checkDelegation(name)
    onChecked()
  }
  return (
    <>
      <Act class="small" action={action} work={check}>
        {action.isBusy ? 'Asking…' : 'Check now'} <span class="unseen">how {name} is delegated</span>
      </Act>
      <Refusal of={action} />
    </>
  )
}
