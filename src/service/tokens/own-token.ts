import { Unauthenticated } from '../../errors.ts'
import * as accounts from '../../store/accounts/accounts.ts'
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
}

/** Returns the token that the request has presented. @throws Unauthenticated if it has been deleted meanwhile */
export async function show({ system, actor }: Visit): Promise<OwnToken> {
  const { tokenId, accountId, override, mfaPending } = actor
  const hidesAccount = override || mfaPending
  const [token, listed, account] = await Promise.all([
    tokens.find(system.db, tokenId, system.now(), accountId),
    policies.list(system.db, tokenId),
    hidesAccount ? undefined : accounts.get(system.db, accountId),
  ])
  if (token === undefined) throw new Unauthenticated('Invalid token.')
  const shown = {
    id: override ? null : accountId,
    email: token.userOverride ?? token.owner,
    domains: account?.domains ?? null,
  }
  return { token, policies: listed, account: shown, mfaPending }
}
