import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Linking } from './account/linking.tsx'
import { hasNewRole, loadMe, me } from './api/me.ts'
import { lost, session } from './api/session.ts'
import { linking } from './api/sign-on.ts'
import { DomainHeader } from './domains/domain-header.tsx'
import { GoTo } from './frame/go-to.tsx'
import { Side } from './frame/side.tsx'
import { focusFirst } from './kit/form.tsx'
import { Loaded, useAsked } from './kit/loading.tsx'
import { Waiting } from './kit/waiting.tsx'
import { Lost, NewRole } from './members/acting.tsx'
import { AccountPage } from './pages/account.tsx'
import { DnssecPage } from './pages/dnssec.tsx'
import { DomainsPage } from './pages/domains.tsx'
import { ForgottenPage } from './pages/forgotten.tsx'
import { HistoryPage } from './pages/history.tsx'
import { MembersPage } from './pages/members.tsx'
import { NewDomainPage } from './pages/new-domain.tsx'
import { NewTokenPage } from './pages/new-token.tsx'
import { RecordsPage } from './pages/records.tsx'
import { SearchPage } from './pages/search.tsx'
import { SecondFactorPage } from './pages/second-factor.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { SignUpPage } from './pages/sign-up.tsx'
import { SignedInPage } from './pages/signed-in.tsx'
import { TokenPage } from './pages/token.tsx'
import { TokensPage } from './pages/tokens.tsx'
import { ZonefilePage } from './pages/zonefile.tsx'
import { location, match } from './router.ts'
import { useShared } from './shared.ts'
import { Limits } from './tokens/limits.tsx'

const NAME = 'Zoneplane'

/** A page, with the parameters of its path. */
export type Page = ComponentType<Record<string, string>>

/** The pages that need a session, by their paths. */
const PAGES: Record<string, Page> = {
  '': DomainsPage,
  'new-domain': NewDomainPage,
  'domains/:name': RecordsPage as Page,
  'domains/:name/history': HistoryPage as Page,
  'domains/:name/dnssec': DnssecPage as Page,
  'domains/:name/zonefile': ZonefilePage as Page,
  'domains/:name/settings': SettingsPage as Page,
  search: SearchPage,
  tokens: TokensPage,
  'tokens/new': NewTokenPage,
  'tokens/:id': TokenPage as Page,
  members: MembersPage,
  account: AccountPage,
}

/** The pages of somebody who has not signed in. Every other path leads to sign-in, and back to where one was. */
const OPEN_PAGES: Record<string, Page> = {
  'sign-up': SignUpPage,
  forgotten: ForgottenPage,
  'signed-in': SignedInPage,
}

/** The console: its frame, and the page of the present path. @param later further pages that need a session */
export function App({ later }: { later: Record<string, Page> }) {
  useShared()
  const { path } = location.value
  const found = pageAt(path, later)
  const account = me.value?.account.email
  const isSignedIn = me.value?.mfa_pending === false
  useEffect(() => {
    focusFirst()
    // What became of it has been shown.
    if (isSignedIn && linking.value?.code === undefined) linking.value = undefined
    // On phones, they scroll.
    for (const current of document.querySelectorAll<HTMLElement>('[aria-current=page]'))
      current.closest('.side, .tabs')!.scrollLeft = current.offsetLeft - 80
    const title = document.querySelector('h1')?.textContent ?? NAME
    document.title = title === NAME ? NAME : `${title} · ${NAME}`
  }, [path, found?.Page, account])
  const domain = found?.parameters['name']
  return (
    <div class={isSignedIn ? 'shell' : 'door'}>
      {isSignedIn && <Side />}
      <div>
        <Waiting />
        {/* Nothing of a page goes from one account to another. */}
        <main key={account}>
          {isSignedIn && hasNewRole.value && <NewRole />}
          {isSignedIn && lost.value !== undefined && <Lost />}
          {isSignedIn && <Limits own={me.value!} />}
          {isSignedIn && linking.value !== undefined && <Linking />}
          {domain !== undefined && isSignedIn && <DomainHeader key={domain} name={domain} />}
          {found === undefined ? <Missing /> : <found.Page key={path} {...found.parameters} />}
        </main>
      </div>
      {isSignedIn && <GoTo />}
    </div>
  )
}

/** What a path shows now; undefined: there is no such page. */
function pageAt(path: string, later: Record<string, Page>): Found | undefined {
  const open = find(OPEN_PAGES, path)
  if (open !== undefined) return open
  if (session.value === undefined) return { Page: SignInPage, parameters: {} }
  if (me.value === undefined) return { Page: Beginning, parameters: {} }
  return me.value.mfa_pending ? { Page: SecondFactorPage, parameters: {} } : (find(PAGES, path) ?? find(later, path))
}

/** Asks what the token of the session may do, which every page needs to know. */
function Beginning() {
  return (
    <>
      <h1 class="unseen" tabIndex={-1}>
        {NAME}
      </h1>
      <Loaded asked={useAsked(loadMe, [])}>{() => null}</Loaded>
    </>
  )
}

interface Found {
  Page: Page
  parameters: Record<string, string>
}

function find(pages: Record<string, Page>, path: string): Found | undefined {
  for (const [pattern, page] of Object.entries(pages)) {
    const parameters = match(pattern, path)
    if (parameters !== undefined) return { Page: page, parameters }
  }
  return undefined
}

function Missing() {
  return (
    <>
      <h1 tabIndex={-1}>There is no such page</h1>
      <p>
        Go to <a href="">your domains</a>.
      </p>
    </>
  )
}
