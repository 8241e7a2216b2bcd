import { useState } from 'preact/hooks'
import { allDomains, type DeletedDomain, deletedDomains, type Overview } from '../api/domains.ts'
import { me, noteDomains } from '../api/me.ts'
import { shortState } from '../dnssec/dnssec.ts'
import { BringBack, DeletedTable } from '../domains/deleted-domains.tsx'
import { DomainTable } from '../domains/domain-table.tsx'
import { stateOf, VIEWS } from '../domains/domains.ts'
import { FirstSteps } from '../domains/first-steps.tsx'
import { type Chip, Chips } from '../kit/chips.tsx'
import { type Action, Refusal, useAction } from '../kit/form.tsx'
import { type Asked, Failure, Loaded, useAsked, useMore } from '../kit/loading.tsx'
import { Time } from '../kit/time.tsx'
import { location, navigate } from '../router.ts'
import { asciiName } from '../rrsets/owner.ts'

/** The account's domains, those that it has deleted, and the ways to another one. */
export function DomainsPage() {
  const [soFar, setSoFar] = useState<Overview[]>([])
  const [search, setSearch] = useState('')
  const action = useAction()
  const { token } = me.value!
  const mayCreate = token.perm_create_domain
  const asked = useAsked(async () => {
    const all = await allDomains(setSoFar)
    noteDomains(all.length)
    return all
  }, [])
  // Who may not create domains may not see what can come back.
  const deleted = useMore(async (cursor) => (mayCreate ? deletedDomains(cursor) : { items: [], next: undefined }), [])
  const { query } = location.value
  const view = query.get('show') ?? 'all'
  const known = asked.value ?? (soFar.length > 0 ? soFar : undefined)
  const gone = query.get('deleted')
  const isEmpty = known?.length === 0
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Domains</h1>
        <div class="rest" hidden={!mayCreate}>
          <a class="button" href="new-domain?zonefile">
            Import zone file
          </a>
          <a class="button main" href="new-domain">
            Add domain
          </a>
        </div>
      </div>
      <p class="facts">{known !== undefined && !isEmpty && <Facts domains={known} />}</p>
      {gone !== null && !known?.some(({ name }) => name === gone) && (
        <Gone name={gone} deleted={deleted.value} action={action} />
      )}
      {deleted.problem && view !== 'deleted' && <Failure problem={deleted.problem} again={deleted.reload} />}
      <Refusal of={action} />
      <div class="tools" hidden={isEmpty && deleted.value?.length === 0 && view === 'all'}>
        <input
          type="search"
          aria-label="Search domains"
          placeholder="Find a domain"
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value)
          }}
        />
        <Chips
          label="Which domains"
          chips={chipsFor(known ?? [], deleted, view)}
          chosen={view}
          onChoose={(next) => {
            navigate(next === 'all' ? '' : `?show=${next}`, { replace: true })
          }}
        />
        {deleted.value === undefined && deleted.problem === undefined && <span class="quiet">Loading…</span>}
      </div>
      {view === 'deleted' ? (
        <Loaded asked={deleted}>
          {(domains) => {
            const found = domains.filter(({ name }) => name.includes(asciiName(search)))
            return found.length === 0 ? <None search={search} /> : <DeletedTable domains={found} action={action} />
          }}
        </Loaded>
      ) : (
        <Loaded asked={{ ...asked, value: known }}>
          {(domains) => {
            if (isEmpty) return <FirstSteps token={token} />
            const found = matching(domains, view, asciiName(search))
            return found.length === 0 ? (
              <None search={search} />
            ) : (
              <DomainTable domains={found} onChecked={asked.reload} />
            )
          }}
        </Loaded>
      )}
    </>
  )
}

function Facts({ domains }: { domains: Overview[] }) {
  const secure = domains.filter((domain) => stateOf(domain) === 'secure').length
  return (
    <>
      <span>
        <b>{domains.length.toLocaleString('en')}</b> {domains.length === 1 ? 'domain' : 'domains'}
      </span>
      {secure > 0 && (
        <span>
          <b>{secure.toLocaleString('en')}</b> secure
        </span>
      )}
    </>
  )
}

/** Says that a domain is deleted, and until when it can come back. @param props.deleted undefined: not known yet */
function Gone(props: { name: string; deleted: DeletedDomain[] | undefined; action: Action }) {
  const { name, deleted, action } = props
  const found = deleted?.find((domain) => domain.name === name)
  return (
    <p class="note" role="status">
      {name} is deleted.{' '}
      {found && (
        <>
          It can come back until <Time at={found.restorable_until} />. <BringBack name={name} action={action} />
        </>
      )}
    </p>
  )
}

function None({ search }: { search: string }) {
  return <p role="status">{search === '' ? 'None at the moment.' : `No domain matches “${search}”.`}</p>
}

/** The views that show something, and the one that is chosen. */
function chipsFor(domains: Overview[], { value: deleted = [], more }: Asked<DeletedDomain[]>, chosen: string): Chip[] {
  const views = Object.entries(VIEWS).map(([view, { text, has }]) => ({
    view,
    text,
    count: domains.filter(has).length,
  }))
  const gone = { view: 'deleted', text: 'Deleted', count: more ? `${deleted.length}+` : deleted.length }
  const others = [...views, gone].filter(({ view, count }) => count !== 0 || view === chosen)
  return others.length === 0 ? [] : [{ view: 'all', text: 'All' }, ...others]
}

/** Those of a view whose names contain a text, or whose state it is. */
function matching(domains: Overview[], view: string, wanted: string): Overview[] {
  const has = VIEWS[view]?.has ?? (() => true)
  return domains.filter(has).filter((domain) => {
    const state = stateOf(domain)
    return domain.name.includes(wanted) || [state, shortState(state).short.toLowerCase()].includes(wanted)
  })
}
