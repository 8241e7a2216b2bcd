import { hasDrafts, keep, read } from '../kept.ts'
import { onChange, Shared } from '../shared.ts'

/** The secret of a token, with which this tab uses the API. It is kept in this tab only, and never in a URL. */
export interface Session {
  secret: string
  /** Of a member's login: the account for which one acts, and the secret of one's own login. */
  acting?: { account: string; own: string }
}

const KEY = 'zoneplane session'

/** The session of this tab; undefined before sign-in, and after the session has ended. */
export const session = new Shared(read(KEY) as Session | undefined)

/** Whether the session has ended without the user's doing, so that the sign-in page says so. */
export const hasExpired = new Shared(false)

/** Whether the user has ended it: so does that page, too. */
export const hasLeft = new Shared(false)

/** The account for which one cannot act any more, so that the pages say so. */
export const lost = new Shared<string | undefined>(undefined)

onChange(() => {
  keep(KEY, session.value)
})

/** Ends the session whose token the service does not know any more; that of a member leaves one's own. */
export function noteEnd(secret: string | undefined): void {
  if (secret === undefined) return
  const { acting } = session.value ?? {}
  if (secret === session.value?.secret && acting !== undefined) {
    lost.value = acting.account
    // What is staged stays in sight until one goes.
    if (!hasDrafts(acting.account)) backToOwn()
  } else if (secret === (acting?.own ?? session.value?.secret)) {
    hasExpired.value = true
    session.value = undefined
  }
}

/** Goes on with one's own login. */
export function backToOwn(): void {
  session.value = { secret: session.value!.acting!.own }
}
