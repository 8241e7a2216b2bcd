import type { components } from '../../build/api-types.d.ts'
import { mayWriteIn } from '../model/may-write.ts'
import { navigate } from '../router.ts'
import { onChange, Shared } from '../shared.ts'
import { api, ask } from './client.ts'
import { hasExpired, hasLeft, session } from './session.ts'

export type OwnToken = components['schemas']['OwnToken']

/**
 * The token of the session: its permissions, its policies, and its account (contract §5.8). Every page that needs a session
 * finds it here: `me.value!.token.perm_create_domain`.
 */
export const me = new Shared<OwnToken | undefined>(undefined)

onChange(() => {
  if (session.value === undefined) me.value = undefined
})

/** Asks for the token of the session, as it is now. @throws Refused */
export async function loadMe(): Promise<OwnToken> {
  const own = await ask(api.GET('/api/v1/auth/token/'))
  me.value = own
  return own
}

/** Notes how many domains the account has, as the page knows that now. @param domains the number, or its change */
export function noteDomains(domains: number | { by: number }): void {
  const own = me.value!
  const known = own.account.domains
  const number = typeof domains === 'number' ? domains : known === null ? null : known + domains.by
  me.value = { ...own, account: { ...own.account, domains: number } }
}

/** Begins a session with the secret of a token. @throws Refused if it is none */
export async function begin(secret: string): Promise<void> {
  const own = await ask(api.GET('/api/v1/auth/token/', { headers: { Authorization: `Token ${secret}` } }))
  hasExpired.value = false
  hasLeft.value = false
  session.value = { secret }
  me.value = own
}

/** Whether the session began with a password. Signing out deletes its token; that of an API token is only forgotten. */
export function isLogin(): boolean {
  return me.value !== undefined && me.value.token.mfa !== null
}

/** Whether the token may write anything in a domain, as far as its policies say. */
export function mayChange(domain: string): boolean {
  return mayWriteIn(me.value!.policies, domain)
}

/** Whether the token may delete a domain and replace its keys, as far as its policies say. */
export function mayDelete(domain: string): boolean {
  return me.value!.token.perm_delete_domain && mayChange(domain)
}

/** Whether the token may read and change the account (contract §3.2). */
export function mayManageAccount(): boolean {
  return me.value!.token.perm_manage_tokens && me.value!.policies.length === 0
}

/** Ends the session: the token of a log-in is deleted at the service; an API token is only forgotten. */
export async function signOut(): Promise<void> {
  // The session of this tab ends whatever the service answers: its token expires by itself.
  if (isLogin()) await ask(api.POST('/api/v1/auth/logout/')).catch(() => undefined)
  forgetSession()
}

/** Ends the session of this tab. */
export function forgetSession(): void {
  hasLeft.value = true
  session.value = undefined
  // Nor does what was staged stay for whoever uses this tab next.
  sessionStorage.clear()
  navigate('')
}
