import { useEffect } from 'preact/hooks'
import type { components } from '../../build/api-types.d.ts'
import { api, ask } from '../api/client.ts'
import type { Domain } from '../api/domains.ts'
import { mayDelete } from '../api/me.ts'
import { shortState, SUSPENDED } from '../model/dnssec.ts'
import { counted } from '../model/rrset.ts'
import { hasStaged } from '../records/staging.ts'
import { location } from '../router.ts'
import { Shared } from '../shared.ts'
import { noteVisit } from './go-to.tsx'
import { Loaded, useAsked } from './loading.tsx'
import { State } from './state.tsx'
import { Ago, Time } from './time.tsx'

const TABS = [
  ['', 'Records'],
  ['/history', 'History'],
  ['/dnssec', 'DNSSEC'],
  ['/nameservers', 'Nameservers'],
  ['/zonefile', 'Zone file'],
  ['/delete', 'Delete'],
] as const

type Delegation = components['schemas']['Delegation']

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
  const asked = useAsked(() => {
    const params = { path: { name } }
    return Promise.all([
      ask(api.GET('/api/v1/domains/{name}/', { params })),
      ask(api.GET('/api/v1/domains/{name}/delegation/', { params })),
      ask(api.GET('/api/v1/domains/{name}/publication/', { params })),
    ])
  }, [changes.value])
  const state = asked.value && shortState(stateOf(asked.value[0], asked.value[1]))
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>{name}</h1>
        {state && <State mood={state.mood}>{state.short}</State>}
      </div>
      {/* Of a domain that does not exist, the page says so. */}
      {asked.problem?.status !== 404 && (
        <Loaded asked={asked}>
          {([{ touched, suspended }, , { nameservers }]) => (
            <>
              {suspended && (
                <p class="alert" role="status">
                  The operator of this service has suspended this domain (<Time at={suspended} />
                  ). Its nameservers do not answer for it. Its records and keys are kept, but nobody can change or
                  delete it. Please contact the operator.
                </p>
              )}
              <p class="facts">
                {nameservers.length > 0 && (
                  <span>
                    Served by{' '}
                    <b>
                      {nameservers.filter(({ status }) => status === 'INSYNC').length} of{' '}
                      {counted(nameservers.length, 'nameserver')}
                    </b>{' '}
                    asked
                  </span>
                )}
                <span>
                  Changed{' '}
                  <b>
                    <Ago at={touched} />
                  </b>
                </span>
              </p>
            </>
          )}
        </Loaded>
      )}
      <nav class="tabs" aria-label={name}>
        {TABS.map(([part, text]) => {
          if (part === '/delete' && !mayDelete(name)) return null
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

/** The state of a domain: that it is suspended, or else that of its delegation at the last check. */
function stateOf({ suspended }: Domain, { checked, state }: Pick<Delegation, 'checked' | 'state'>): string {
  if (suspended) return SUSPENDED
  return checked === null ? 'unknown' : state
}
