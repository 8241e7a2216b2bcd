import * as store from '../store/accounts.ts'
import type { Account } from '../store/accounts.ts'
import type { System } from '../system.ts'
import type { Actor } from './actor.ts'

export type { Account }

/** What an account shows of itself. */
export type AccountWithCounts = Account & { domainsUnderManagement: number }

const EMAIL_LENGTH = 254
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const HOST = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/** What is wrong with an e-mail address (contract §11.1): a dot-atom at a host name (RFC 5322 §3.4.1) is right. */
export function emailProblems(email: string): string[] {
  const at = email.lastIndexOf('@')
  const [local, host] = [email.slice(0, at), email.slice(at + 1)]
  const isAddress = at > 0 && email.length <= EMAIL_LENGTH && local.length <= 64 && LOCAL_PART.test(local)
  return isAddress && HOST.test(host) ? [] : ['Enter a valid email address.']
}

/** An address as it is stored: host names have no case. */
export function canonicalEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return email.slice(0, at) + email.slice(at).toLowerCase()
}

/** The account that the actor acts for. */
export async function show(system: System, actor: Actor): Promise<AccountWithCounts> {
  const [account, domainsUnderManagement] = await Promise.all([
    store.get(system.db, actor.accountId),
    store.domainsUnderManagement(system.db, actor.accountId),
  ])
  return { ...account!, domainsUnderManagement }
}

/** Changes what an account can change of itself. */
export async function change(
  system: System,
  actor: Actor,
  { outreachPreference }: { outreachPreference?: boolean },
): Promise<AccountWithCounts> {
  if (outreachPreference !== undefined) {
    await store.setOutreachPreference(system.db, actor.accountId, outreachPreference)
  }
  return show(system, actor)
}
