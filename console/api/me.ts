import type { components } from '../../build/api-types.d.ts'
import { navigate } from '../router.ts'
import { onChange, Shared } from '../shared.ts'
import { mayWriteIn } from '../tokens/may-write.ts'
import { policiesFor } from '../tokens/rights.ts'
import { api, ask, denials } from './client.ts'
import { hasExpired, hasLeft, lost, type Session, session } from './session.ts'

export type OwnToken = components['schemas']['OwnToken']

/**
 * The token of the session: its permissions, its policies, and its account (contract §5.8). Every page that needs a session
 * finds it here: `me.value!.token.perm_create_domain`.
 */
export const me = new Shared<OwnToken | undefined>(undefined)

/** Whether the role of the session has become another one, so that the pages say so. */
export const hasNewRole = new Shared(false)

let known = session.value?.secret

onChange(() => {
  if (session.value?.secret === known) return
  known = session.value?.secret
  me.value = undefined
  hasNewRole.value = false
})

let denied = 0

onChange(() => {
  if (denials.value === denied) return
  denied = denials.value
  // The role may be another one now.
  if (session.value?.acting) void loadMe().catch(() => undefined)
})

/** Asks for the token of the session, as it is now. @throws Refused */
export async function loadMe(): Promise<OwnToken> {
  const { value } = session
  const own = withRole(await ask(api.GET('/api/v1/auth/token/')))
  if (session.value === value) {
    const former = me.value?.membership?.role
    if (former && former !== own.membership?.role) hasNewRole.value = true
    me.value = own
  }
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
export async function begin(secret: string, acting?: Session['acting']): Promise<void> {
  const own = withRole(await ask(api.GET('/api/v1/auth/token/', { headers: { Authorization: `Token ${secret}` } })))
  hasExpired.value = false
  hasLeft.value = false
  lost.value = undefined
  session.value = { secret, ...(acting && { acting }) }
  me.value = own
}

/** A token whose policies say what its role may write, too: all else is decided by these. */
function withRole(own: OwnToken): OwnToken {
  return { ...own, policies: policiesFor(own) }
}

/** What the texts about rights call whoever has them. */
export function bearer(): string {
  return me.value!.membership === null ? 'This token' : 'Your role'
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

/** Whether it may change what is about a whole domain: its note, and who else transfers its zone; as far as is known without asking. */
export function mayChangeSettings(): boolean {
  const { membership } = me.value!
  return membership === null || membership.role === 'admin'
}

/** Whether it may change the account, as nobody else's login may (contract §19.1). */
export function mayChangeAccount(): boolean {
  return mayManageAccount() && me.value!.membership === null
}

/** Whether it may look after the account's members and webhooks (contract §§19.1, 22.6). */
export function mayManageMembers(): boolean {
  return isLogin() && mayManageAccount()
}

/** Whether a part of the console has something for it. */
export function maySee(part: string): boolean {
  const { membership, token } = me.value!
  if (part === 'members' || part === 'webhooks') return mayManageMembers()
  if (membership === null) return true
  return part === 'tokens' ? token.perm_manage_tokens : part !== 'account'
}

/** Whether the token may read and change the account (contract §3.2). */
export function mayManageAccount(): boolean {
  return me.value!.token.perm_manage_tokens && me.value!.policies.length === 0
}

/** Ends the session: the token of a log-in is deleted at the service; an API token is only forgotten. */
export async function signOut(): Promise<void> {
  // The session of this tab ends whatever the service answers: its token expires by itself.
  if (isLogin()) {
    const { secret, acting } = session.value!
    for (const each of acting === undefined ? [secret] : [secret, acting.own]) await end(each).catch(() => undefined)
  }
  forgetSession()
}

/** Ends a log-in at the service. @throws Refused */
export async function end(secret: string): Promise<void> {
  await ask(api.POST('/api/v1/auth/logout/', { headers: { Authorization: `Token ${secret}` } }))
}

/** Ends the session of this tab. */
export function forgetSession(): void {
  hasLeft.value = true
  session.value = undefined
  // Nor does what was staged stay for whoever uses this tab next.
  sessionStorage.clear()
  navigate('')
}
