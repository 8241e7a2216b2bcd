import type { Policy } from '../../store/tokens.ts'

/** Whom a token acts for, and what it may do (contract §3). */
export interface Actor {
  tokenId: string
  /** The effective account: the bound one of an override token, else the owner. */
  accountId: string
  override: boolean
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
  /** Empty: the token writes without restriction. */
  policies: Policy[]
}

export type Permission = 'permCreateDomain' | 'permDeleteDomain' | 'permManageTokens'
