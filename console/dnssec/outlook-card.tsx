import { checkDelegation } from '../api/domains.ts'
import { Act, Refusal, useAction } from '../kit/form.tsx'
import { List } from '../kit/list.tsx'
import { Panel } from '../kit/panel.tsx'
import { State } from '../kit/state.tsx'
import { Ago } from '../kit/time.tsx'
import { chainOf } from './chain.ts'
import { Chain } from './chain-links.tsx'
import type { Actor, Outlook } from './outlook.ts'
import type { Security } from './security.ts'

const TURNS: Record<Actor, string> = {
  you: 'Your turn',
  nobody: 'Done',
  wait: 'Wait',
  operator: 'The operator’s turn',
}

interface Props {
  name: string
  security: Security
  outlook: Outlook
  onChecked: () => void
}

/** What is left to do and who does it, the chain of trust, and what the last check has found. */
export function OutlookCard({ name, security, outlook, onChecked }: Props) {
  const { domain, keys, delegation, rollover } = security
  const { checked, nameservers } = delegation
  // What was found before the present step of a rollover is about the former DS record.
  const isOutdated = rollover !== null && checked !== null && checked < rollover.since
  const problems = isOutdated ? [] : delegation.problems
  const action = useAction()
  const check = async () => {
    await checkDelegation(name)
    onChecked()
  }
  const tags = keys.flatMap(({ ds }) => ds.slice(0, 1).map((text) => text.split(' ')[0]!))
  return (
    <Panel title={outlook.title}>
      <p>
        <State mood={outlook.mood}>{TURNS[outlook.actor]}</State> {outlook.text}
      </p>
      <Chain links={chainOf(name, delegation, tags, domain.suspended !== undefined)} />
      {problems.length > 0 && (
        <>
          <h3>What the check says</h3>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </>
      )}
      <Refusal of={action} />
      <p class="buttons">
        <Act {...(checked === null && { class: 'main' })} action={action} work={check}>
          {action.isBusy ? 'Asking the parent’s servers…' : 'Check now'}
        </Act>
        {checked !== null && (
          <span class="quiet">
            Checked <Ago at={checked} />
          </span>
        )}
      </p>
      {nameservers.length > 0 && (
        <details>
          <summary>What the parent’s servers answer</summary>
          <List heads={['Server', 'Nameservers', 'DS records']}>
            {nameservers.map(({ name: server, address, ns, ds, problem }) => (
              <tr key={`${server} ${address}`}>
                <td>
                  {server} <span class="quiet">{address}</span>
                </td>
                <td class="mono">{problem ?? (ns.join(', ') || 'none')}</td>
                <td class="mono">{ds.join(', ') || 'none'}</td>
              </tr>
            ))}
          </List>
        </details>
      )}
    </Panel>
  )
}
