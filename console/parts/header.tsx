import { api, ask } from '../api/client.ts'
import { isLogin, me } from '../api/me.ts'
import { session } from '../api/session.ts'
import { location, navigate } from '../router.ts'

const LINKS = [
  ['', 'Domains'],
  ['search', 'Search'],
  ['tokens', 'Tokens'],
  ['account', 'Account'],
] as const

/** The links between the parts of the console, and the way out. */
export function Header() {
  const { path } = location.value
  const current = LINKS.findLast(([to]) => to === '' || path.split('/')[0] === to)![0]
  return (
    <header class="top">
      <a class="name" href="">
        Zoneplane
      </a>
      <nav aria-label="Main">
        {LINKS.map(([to, text]) => (
          <a key={to} href={to} aria-current={to === current ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
      <span class="who">{me.value!.account.email}</span>
      <button class="plain" onClick={() => void signOut()}>
        Sign out
      </button>
    </header>
  )
}

/** Ends the session: the token of a log-in is deleted at the service; an API token is only forgotten. */
export async function signOut(): Promise<void> {
  // The session of this tab ends whatever the service answers: its token expires by itself.
  if (isLogin()) await ask(api.POST('/api/v1/auth/logout/')).catch(() => undefined)
  forgetSession()
}

/** Ends the session of this tab. */
export function forgetSession(): void {
  session.value = undefined
  // Nor does what was staged stay for whoever uses this tab next.
  sessionStorage.clear()
  navigate('')
}
