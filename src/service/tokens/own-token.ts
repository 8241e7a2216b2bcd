import { Unauthenticated } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Member } from '../../store/accounts/members.ts'
import * as members from '../../store/accounts/members.ts'
import { isConfined } from '../../store/domains/domains.ts'
import type { StoredPolicy } from '../../store/tokens/policies.ts'
import * as policies from '../../store/tokens/policies.ts'
import type { Token } from '../../store/tokens/tokens.ts'
import * as tokens from '../../store/tokens/tokens.ts'
import type { Visit } from '../actor.ts'

/** A presented token, and what explains its rights (contract §5.8). */
export interface OwnToken {
  token: Token
  /** The default policy, then the others, oldest first. */
  policies: StoredPolicy[]
  /** The account that it acts for. */
  account: {
    /** Null for an override token: no resource shows it to the owner of the token. */
    id: string | null
    email: string
    /** The number of its domains; null for an override token, too, and while a code is pending. */
    domains: number | null
  }
  mfaPending: boolean
  /** The membership whose rights the token has; null: it is no member's login. */
  membership: Member | null
}

/** Returns the token that the request has presented. @throws Unauthenticated if it has been deleted meanwhile */
export async function show({ system, actor }: Visit): Promise<OwnToken> {
  const { tokenId, accountId, ownerId, memberId, role, mfaPending } = actor
  const isForeign = actor.override && role === null
  const isHalfOpen = mfaPending || actor.mfaLacking
  const hidesAccount = isForeign || isConfined(actor) || isHalfOpen
  const [token, listed, account, membership] = await Promise.all([
    tokens.find(system.db, tokenId, system.now(), ownerId),
    policies.list(system.db, tokenId),
    hidesAccount ? undefined : accounts.get(system.db, accountId),
    role === null ? null : members.find(system.db, memberId!),
  ])
  if (token === undefined || membership === undefined) throw new Unauthenticated('Invalid token.')
  const shown = {
    id: isForeign ? null : accountId,
    email: token.userOverride ?? token.owner,
    domains: isHalfOpen ? null : countOf(account, membership),
  }
  const { permCreateDomain, permDeleteDomain, permManageTokens, messageRequired } = actor
  const effective = { ...token, permCreateDomain, permDeleteDomain, permManageTokens, messageRequired }
  return { token: effective, policies: listed, account: shown, mfaPending, membership }
}

/** The number of domains that the token sees; null: it may not know those of the account. */
function countOf(account: Account | undefined, membership: Member | null): number | null {
  return account?.domains ?? membership?.domains?.length ?? null
}
