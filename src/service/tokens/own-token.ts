import { Unauthenticated } from '../../errors.ts'
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
  }
  mfaPending: boolean
}

/** Returns the token that the request has presented. @throws Unauthenticated if it has been deleted meanwhile */
export async function show({ system, actor }: Visit): Promise<OwnToken> {
  const { tokenId, accountId, override, mfaPending } = actor
  const [token, listed] = await Promise.all([
    tokens.find(system.db, tokenId, system.now(), accountId),
    policies.list(system.db, tokenId),
  ])
  if (token === undefined) throw new Unauthenticated('Invalid token.')
  const account = { id: override ? null : accountId, email: token.userOverride ?? token.owner }
  return { token, policies: listed, account, mfaPending }
}
