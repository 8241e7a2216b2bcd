import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { session } from './api/session.ts'
import { DeleteDomainPage } from './pages/delete-domain.tsx'
import { DnssecPage } from './pages/dnssec.tsx'
import { DomainsPage } from './pages/domains.tsx'
import { HistoryPage } from './pages/history.tsx'
import { NameserversPage } from './pages/nameservers.tsx'
import { NewDomainPage } from './pages/new-domain.tsx'
import { NewTokenPage } from './pages/new-token.tsx'
import { RecordsPage } from './pages/records.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { TokenPage } from './pages/token.tsx'
import { TokensPage } from './pages/tokens.tsx'
import { ZonefilePage } from './pages/zonefile.tsx'
import { Header } from './parts/header.tsx'
import { Waiting } from './parts/waiting.tsx'
import { location, match } from './router.ts'

/** A page, with the parameters of its path. */
type Page = ComponentType<Record<string, string>>

/** The pages that need a session, by their paths. */
const PAGES: Record<string, Page> = {
  '': DomainsPage,
  'new-domain': NewDomainPage,
  'domains/:name': RecordsPage as Page,
  'domains/:name/history': HistoryPage as Page,
  'domains/:name/dnssec': DnssecPage as Page,
  'domains/:name/nameservers': NameserversPage as Page,
  'domains/:name/zonefile': ZonefilePage as Page,
  'domains/:name/delete': DeleteDomainPage as Page,
  tokens: TokensPage,
  'tokens/new': NewTokenPage,
  'tokens/:id': TokenPage as Page,
}

/** The pages of somebody who has not signed in. Every other path leads to sign-in, and back to where one was. */
const OPEN_PAGES: Record<string, Page> = {}

/** The console: its header, and the page of the present path. */
export function App() {
  const { path } = location.value
  const open = find(OPEN_PAGES, path)
  const found = open ?? (session.value === undefined ? { Page: SignInPage, parameters: {} } : find(PAGES, path))
  // Whoever listens to the page, or uses the keyboard, begins at its heading.
  useEffect(() => {
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  }, [path, found?.Page])
  return (
    <>
      {session.value !== undefined && <Header />}
      <Waiting />
      <main>{found === undefined ? <Missing /> : <found.Page key={path} {...found.parameters} />}</main>
    </>
  )
}

function find(
  pages: Record<string, Page>,
  path: string,
): { Page: Page; parameters: Record<string, string> } | undefined {
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
