import { api, ask } from '../api/client.ts'
import type { DeletedDomain } from '../api/domains.ts'
import { noteDomains } from '../api/me.ts'
import { Act, type Action } from '../kit/form.tsx'
import { List } from '../kit/list.tsx'
import { Ago, Time } from '../kit/time.tsx'
import { navigate } from '../router.ts'

/** The deleted domains, which come back at a click. @param action whose problems the page shows */
export function DeletedTable({ domains, action }: { domains: DeletedDomain[]; action: Action }) {
  return (
    <List heads={['Domain', 'Deleted', 'Can come back until']}>
      {domains.map(({ name, deleted, restorable_until: until }) => (
        <tr key={name}>
          <td>
            <span class="mono">{name}</span> <BringBack name={name} action={action} />
          </td>
          <td>
            <Ago at={deleted} />
          </td>
          <td>
            <Time at={until} />
          </td>
        </tr>
      ))}
    </List>
  )
}

/** Brings a deleted domain back, and shows it. */
export function BringBack({ name, action }: { name: string; action: Action }) {
  const restore = async () => {
    await ask(api.POST('/api/v1/domains/', { body: { name, restore: true } }))
    noteDomains({ by: 1 })
    navigate(`domains/${name}`)
  }
  return (
    <Act class="small" action={action} work={restore} aria-label={`Bring back ${name}`}>
      Bring back
    </Act>
  )
}
