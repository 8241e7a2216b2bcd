import { onChange, Shared } from '../shared.ts'

/** The secret of a token, with which this tab uses the API. It is kept in this tab only, and never in a URL. */
export interface Session {
  secret: string
}

const KEY = 'zoneplane session'

/** The session of this tab; undefined before sign-in, and after the session has ended. */
export const session = new Shared<Session | undefined>(restore())

/** Whether the session has ended without the user's doing, so that the sign-in page says so. */
export const hasExpired = new Shared(false)

function restore(): Session | undefined {
  const text = sessionStorage.getItem(KEY)
  return text === null ? undefined : (JSON.parse(text) as Session)
}

onChange(() => {
  if (session.value === undefined) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, JSON.stringify(session.value))
})
