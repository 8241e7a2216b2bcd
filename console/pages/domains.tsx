import { useState } from 'preact/hooks'
import { api, askWhole, nextCursor } from '../api/client.ts'
import type { components } from '../../build/api-types.d.ts'
import { Loaded, useAsked } from '../parts/loading.tsx'
import { Time } from '../parts/time.tsx'

type Domain = components['schemas']['Domain']

/** All domains, page by page. @param onPage called with those so far */
async function listDomains(onPage: (domains: Domain[]) => void): Promise<Domain[]> {
  const domains: Domain[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { data, response } = await askWhole(api.GET('/api/v1/domains/', { params: { query: { cursor } } }))
    domains.push(...(data as Domain[]))
    onPage([...domains])
    cursor = nextCursor(response)
  }
  return domains
}

/** The account's domains. */
export function DomainsPage() {
  const [sofar, setSofar] = useState<Domain[]>([])
  const [search, setSearch] = useState('')
  const asked = useAsked(() => listDomains(setSofar), [])
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
      <Loaded asked={{ ...asked, value: asked.value ?? (sofar.length > 0 ? sofar : undefined) }}>
        {(domains) => <DomainTable domains={domains} search={search} />}
      </Loaded>
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
