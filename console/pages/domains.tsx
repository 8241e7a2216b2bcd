import { useState } from 'preact/hooks'
import { allDomains, deletedDomains, type Domain } from '../api/domains.ts'
import { api, ask } from '../api/client.ts'
import { useAction } from '../parts/form.tsx'
import { Failure, Loaded, useAsked, useMore } from '../parts/loading.tsx'
import { Time } from '../parts/time.tsx'
import { navigate } from '../router.ts'

/** The account's domains, those that it has deleted, and the way to another one. */
export function DomainsPage() {
  const [soFar, setSoFar] = useState<Domain[]>([])
  const [search, setSearch] = useState('')
  const asked = useAsked(() => allDomains(setSoFar), [])
  return (
    <>
      <h1 tabIndex={-1}>Domains</h1>
      <div class="tools">
        <input
          type="search"
          aria-label="Search domains"
          placeholder="Search"
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value)
          }}
        />
        <a class="button main" href="new-domain">
          Add a domain
        </a>
      </div>
      <Loaded asked={{ ...asked, value: asked.value ?? (soFar.length > 0 ? soFar : undefined) }}>
        {(domains) => <DomainTable domains={domains} search={search} />}
      </Loaded>
      <Deleted />
    </>
  )
}

function DomainTable({ domains, search }: { domains: Domain[]; search: string }) {
  if (domains.length === 0) {
    return (
      <p>
        No domains yet. <a href="new-domain">Add one</a>, or import a zone file.
      </p>
    )
  }
  const found = domains.filter(({ name }) => name.includes(search.trim().toLowerCase()))
  if (found.length === 0) return <p role="status">No domain matches “{search}”.</p>
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Domain</th>
          <th scope="col">Last change</th>
        </tr>
      </thead>
      <tbody>
        {found.map(({ name, touched }) => (
          <tr key={name}>
            <td>
              <a href={`domains/${name}`}>{name}</a>
            </td>
            <td>
              <Time at={touched} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The deleted domains, which come back at a click. They are asked for when somebody opens the list. */
function Deleted() {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      class="more"
      onToggle={(event) => {
        setOpen(event.currentTarget.open)
      }}
    >
      <summary>Deleted domains</summary>
      {isOpen && <DeletedTable />}
    </details>
  )
}

function DeletedTable() {
  const asked = useMore(deletedDomains, [])
  const action = useAction()
  const restore = (name: string) => {
    action.run(async () => {
      await ask(api.POST('/api/v1/domains/', { body: { name, restore: true } }))
      navigate(`domains/${name}`)
    })
  }
  return (
    <>
      {action.refused !== undefined && <Failure problem={action.refused} />}
      <Loaded asked={asked}>
        {(domains) =>
          domains.length === 0 ? (
            <p>None that could come back.</p>
          ) : (
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">Domain</th>
                  <th scope="col">Deleted</th>
                  <th scope="col">Can come back until</th>
                </tr>
              </thead>
              <tbody>
                {domains.map(({ name, deleted, restorable_until: until }) => (
                  <tr key={name}>
                    <td>
                      {name}{' '}
                      <button
                        class="small"
                        disabled={action.isBusy}
                        aria-label={`Bring back ${name}`}
                        onClick={() => {
                          restore(name)
                        }}
                      >
                        Bring back
                      </button>
                    </td>
                    <td>
                      <Time at={deleted} />
                    </td>
                    <td>
                      <Time at={until} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </>
  )
}
