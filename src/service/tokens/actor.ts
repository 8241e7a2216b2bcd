import type { Viewer } from '../../store/domains.ts'
import { NIL_UUID } from './ids.ts'

/** Whom a token acts for, and what it may do (contract §3). */
export interface Actor extends Viewer {
  /** Requests that the account may make in a day, where it has a limit of its own. */
  dailyRate: number | null
  /** null: an API token; else a login token, and whether its MFA step was taken. */
  mfa: boolean | null
  /** A login token whose MFA step is missing: it may do next to nothing. */
  mfaPending: boolean
  permCreateDomain: boolean
  permDeleteDomain: boolean
  permManageTokens: boolean
  autoPolicy: boolean
}

/** An account that acts without a token, hence without restriction: through a confirmation link or the operator. */
export function unrestricted(accountId: string) {
  return { tokenId: NIL_UUID, accountId, override: false, restricted: false, autoPolicy: false }
}

export type Permission = 'permCreateDomain' | 'permDeleteDomain' | 'permManageTokens'
