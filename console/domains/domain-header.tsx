import { useEffect } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { type Overview, overviewOf } from '../api/domains.ts'
import { me } from '../api/me.ts'
import { nameserversOf } from '../api/rrsets.ts'
import { shortState } from '../dnssec/dnssec.ts'
import { noteVisit } from '../frame/go-to.tsx'
import { authorOf } from '../history/history.ts'
import { Loaded, useAsked } from '../kit/loading.tsx'
import { State } from '../kit/state.tsx'
import { Ago, Time } from '../kit/time.tsx'
import { hasStaged } from '../records/staging.ts'
import { location } from '../router.ts'
import { counted } from '../rrsets/rrset.ts'
import { Shared } from '../shared.ts'
import { stateOf } from './domains.ts'
import { type Asked, notAsked, serving } from './serving.ts'

const TABS = [
  ['', 'Records'],
  ['/history', 'History'],
  ['/dnssec', 'DNSSEC'],
  ['/nameservers', 'Nameservers'],
  ['/zonefile', 'Zone file'],
  ['/settings', 'Settings'],
] as const

const changes = new Shared(0)

/** Has the facts about the domain asked for again. */
export function domainChanged(): void {
  changes.value++
}

/** The heading of a domain's pages: how it is, and the links between those that the token can use. */
export function DomainHeader({ name }: { name: string }) {
  const { path } = location.value
  useEffect(() => {
    noteVisit(name)
  }, [])
  const overview = useAsked(() => overviewOf(name), [changes.value])
  // The nameservers take longer to answer, some of them.
  const published = useAsked(async () => {
    const params = { path: { name } }
    const [{ nameservers }, names] = await Promise.all([
      ask(api.GET('/api/v1/domains/{name}/publication/', { params })),
      nameserversOf(name),
    ])
    return { nameservers, names }
  }, [changes.value])
  const asked = {
    value: overview.value,
    problem: overview.problem ?? published.problem,
    reload: () => {
      overview.reload()
      published.reload()
    },
  }
  const state = overview.value && shortState(stateOf(overview.value))
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>{name}</h1>
        {state && (
          <State mood={state.mood} title={state.title}>
            {state.short}
          </State>
        )}
      </div>
      {/* Of a domain that does not exist, the page says so. */}
      {asked.problem?.status !== 404 && (
        <Loaded asked={asked}>
          {(domain) => (
            <>
              {domain.suspended && (
                <p class="alert" role="status">
                  The operator of this service has suspended this domain (<Time at={domain.suspended} />
                  ). Its nameservers do not answer for it. Its records and keys are kept, but nobody can change or
                  delete it. Please contact the operator.
                </p>
              )}
              {domain.note !== undefined && (
                <p class="note">
                  <b>Note:</b> <bdi>{domain.note}</bdi>
                </p>
              )}
              <Facts domain={domain} published={published.value} isRecords={path === `domains/${name}`} />
            </>
          )}
        </Loaded>
      )}
      <nav class="tabs" aria-label={name}>
        {TABS.map(([part, text]) => {
          const to = `domains/${name}${part}`
          return (
            <a key={part} href={to} aria-current={to === path ? 'page' : undefined}>
              {text}
              {part === '' && hasStaged(name) && <span class="dot" role="img" aria-label="with staged changes" />}
            </a>
          )
        })}
      </nav>
    </>
  )
}

interface FactsProps {
  domain: Overview
  /** The nameservers that were asked, and the names of all. Undefined: not known yet. */
  published: { nameservers: Asked[]; names: string[] } | undefined
  /** Whether the page itself says how many record sets there are. */
  isRecords: boolean
}

function Facts({ domain, published, isRecords }: FactsProps) {
  const change = domain.last_change
  return (
    <p class="facts">
      {published === undefined && <span>Loading…</span>}
      {published !== undefined && published.nameservers.length > 0 && (
        <span>
          Served by <b>{serving(published.nameservers)}</b>
          {notAsked(published.nameservers, published.names)}
        </span>
      )}
      <span>
        Changed{' '}
        <b>
          <Ago at={change?.created ?? domain.published} />
        </b>
        {change && ` by ${authorOf(change, me.value!.account.email)}`}
      </span>
      {!isRecords && (
        <span>
          <b>{counted(domain.rrsets, 'record set')}</b>
        </span>
      )}
    </p>
  )
}
