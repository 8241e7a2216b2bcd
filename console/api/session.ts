import { keep, read } from '../kept.ts'
import { onChange, Shared } from '../shared.ts'

/** The secret of a token, with which this tab uses the API. It is kept in this tab only, and never in a URL. */
export interface Session {
  secret: string
}

const KEY = 'zoneplane session'

/** The session of this tab; undefined before sign-in, and after the session has ended. */
export const session = new Shared(read(KEY) as Session | undefined)

/** Whether the session has ended without the user's doing, so that the sign-in page says so. */
export const hasExpired = new Shared(false)

/** Whether the user has ended it: so does that page, too. */
export const hasLeft = new Shared(false)

onChange(() => {
  keep(KEY, session.value)
})
