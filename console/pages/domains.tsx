import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { allDomains, allStates, deletedDomains, type Domain } from '../api/domains.ts'
import { me } from '../api/me.ts'
import { shortState, SUSPENDED } from '../model/dnssec.ts'
import { asciiName } from '../model/owner.ts'
import { Act, Refusal, useAction } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Failure, Loaded, useAsked, useMore } from '../parts/loading.tsx'
import { Opened } from '../parts/opened.tsx'
import { State } from '../parts/state.tsx'
import { Ago, Time } from '../parts/time.tsx'
import { location, navigate } from '../router.ts'

/** The account's domains, those that it has deleted, and the way to another one. */
export function DomainsPage() {
  const [soFar, setSoFar] = useState<Domain[]>([])
  const [search, setSearch] = useState('')
  const asked = useAsked(() => allDomains(setSoFar), [])
  const states = useAsked(allStates, [])
  const mayCreate = me.value!.token.perm_create_domain
  const gone = location.value.query.get('deleted')
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Domains</h1>
        <div class="rest">
          <a class="button main" href="new-domain" hidden={!mayCreate}>
            Add domain
          </a>
        </div>
      </div>
      {gone !== null && mayCreate && (
        <p class="note" role="status">
          {gone} is deleted. “Deleted domains”, below, says until when it can come back.
        </p>
      )}
      <div class="tools">
        <input
          type="search"
          aria-label="Search domains"
          placeholder="Find a domain"
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value)
          }}
        />
      </div>
      <Loaded asked={{ ...asked, value: asked.value ?? (soFar.length > 0 ? soFar : undefined) }}>
        {(domains) => (
          <>
            {states.problem && <Failure problem={states.problem} again={states.reload} />}
            <DomainTable
              domains={domains}
              states={states.value ?? (states.problem && new Map())}
              search={search}
              mayCreate={mayCreate}
            />
          </>
        )}
      </Loaded>
      {mayCreate && (
        <div class="more">
          <Opened summary="Deleted domains">
            <DeletedTable />
          </Opened>
        </div>
      )}
    </>
  )
}

/** @param states by name; undefined while they are awaited */
function DomainTable(props: {
  domains: Domain[]
  states: Map<string, string> | undefined
  search: string
  mayCreate: boolean
}) {
  const { domains, states, search, mayCreate } = props
  if (domains.length === 0) {
    return (
      <p>
        No domains yet.{' '}
        <span hidden={!mayCreate}>
          <a href="new-domain">Add one, perhaps with a zone file</a>.
        </span>
      </p>
    )
  }
  const wanted = asciiName(search)
  const found = domains
    .map(({ name, touched, suspended }) => {
      const state = suspended ? SUSPENDED : states ? (states.get(name) ?? '') : 'Loading…'
      return { name, touched, state }
    })
    .filter(
      ({ name, state }) => name.includes(wanted) || [state, shortState(state).short.toLowerCase()].includes(wanted),
    )
  if (found.length === 0) return <p role="status">No domain matches “{search}”.</p>
  return (
    <List heads={['Domain', 'State', 'Last change']}>
      {found.map(({ name, touched, state }) => (
        <tr key={name}>
          <td>
            <a class="mono" href={`domains/${name}`}>
              {name}
            </a>
          </td>
          <td class="words">
            <Delegation name={name} state={state} />
          </td>
          <td class="quiet">
            <Ago at={touched} />
          </td>
        </tr>
      ))}
    </List>
  )
}

/** The state of a delegation, with the way to what can be done about it. */
function Delegation({ name, state }: { name: string; state: string }) {
  if (state === '') return null
  if (state === 'Loading…') return <span class="quiet">{state}</span>
  const { mood, short } = shortState(state)
  const shown = <State mood={mood}>{short}</State>
  return ['secure', 'unknown', SUSPENDED].includes(state) ? shown : <a href={`domains/${name}/dnssec`}>{shown}</a>
}

/** The deleted domains, which come back at a click. */
function DeletedTable() {
  const asked = useMore(deletedDomains, [])
  const action = useAction()
  const restore = async (name: string) => {
    await ask(api.POST('/api/v1/domains/', { body: { name, restore: true } }))
    navigate(`domains/${name}`)
  }
  return (
    <>
      <Refusal of={action} />
      <Loaded asked={asked}>
        {(domains) =>
          domains.length === 0 ? (
            <p>None that could come back.</p>
          ) : (
            <List heads={['Domain', 'Deleted', 'Can come back until']}>
              {domains.map(({ name, deleted, restorable_until: until }) => (
                <tr key={name}>
                  <td>
                    {name}{' '}
                    <Act class="small" action={action} work={() => restore(name)} aria-label={`Bring back ${name}`}>
                      Bring back
                    </Act>
                  </td>
                  <td>
                    <Time at={deleted} />
                  </td>
                  <td>
                    <Time at={until} />
                  </td>
                </tr>
              ))}
            </List>
          )
        }
      </Loaded>
    </>
  )
}
