import { maySee, me, signOut } from '../api/me.ts'
import { Icon, Mark } from '../kit/icons.tsx'
import { Acting } from '../members/acting.tsx'
import { location } from '../router.ts'
import { goTo } from './go-to.tsx'

/** The parts of the console: path, word. The path of the first is that of all others, too. */
const PARTS = [
  ['', 'Domains'],
  ['search', 'Search'],
  ['activity', 'Activity'],
  ['tokens', 'Tokens'],
  ['members', 'Members'],
  ['webhooks', 'Webhooks'],
  ['account', 'Account'],
] as const

/** Where one can go, and the way out. */
export function Side() {
  const { path } = location.value
  const current = PARTS.findLast(([to]) => to === '' || path.split('/')[0] === to)![0]
  return (
    <header class="side">
      <a class="brand" href="">
        <Mark />
        Zoneplane
      </a>
      <button
        class="jump"
        onClick={() => {
          goTo.value = true
        }}
      >
        <Icon of="search" />
        Go to… <kbd>Ctrl K</kbd>
      </button>
      <nav aria-label="Main">
        {PARTS.filter(([to]) => maySee(to)).map(([to, text]) => (
          <a key={to} href={to} aria-current={to === current ? 'page' : undefined}>
            <Icon of={to || 'domains'} />
            {text}
            {to === '' && (
              <span class="count" aria-hidden="true">
                {me.value!.account.domains}
              </span>
            )}
          </a>
        ))}
      </nav>
      <div class="account">
        <Acting key={me.value!.account.email} />
        <button class="plain" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </header>
  )
}
