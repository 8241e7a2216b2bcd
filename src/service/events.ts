import type { System } from '../system.ts'
import { NIL_UUID } from './ids.ts'

/** An event of an account, its tokens, the transfers of its domains, or what the operator does to these, under a stable name (docs/operators/monitor.md). */
export type Event =
  | 'login_failed'
  | 'account_created'
  | 'account_activated'
  | 'account_changed'
  | 'account_deleted'
  | 'account_handed_over'
  | 'address_changed'
  | 'password_changed'
  | 'factor_created'
  | 'factor_activated'
  | 'factor_deleted'
  | 'code_failed'
  | 'mfa_passed'
  | 'identity_linked'
  | 'identity_unlinked'
  | 'member_invited'
  | 'member_joined'
  | 'member_changed'
  | 'member_removed'
  | 'token_created'
  | 'token_changed'
  | 'token_bound'
  | 'token_deleted'
  | 'policy_created'
  | 'policy_changed'
  | 'policy_deleted'
  | 'transfers_changed'
  | 'domain_suspended'
  | 'domain_resumed'
  | 'domain_moved'

interface Circumstances {
  /** null: the account does not exist. */
  account: string | null
  token?: string
  policy?: string
  factor?: string
  member?: string
  /** The domain's name. */
  domain?: string
  /** The id of the acting token, or the kind of access without one; undefined: the operator. */
  by?: string | undefined
}

/**
 * Writes an event to the log, after the commit. The line has no secret and no e-mail address; the log of a request adds
 * the request's id. `by` is the id of the acting token, otherwise `password`, `passkey`, `sign-on`, `link` (in a mail), `request` (with
 * none of these), or `operator`.
 */
export function record({ log, metrics }: System, event: Event, { by = NIL_UUID, ...ids }: Circumstances): void {
  metrics?.count('zoneplane_events_total', { event })
  log.info('event', { event, ...ids, by: by === NIL_UUID ? 'operator' : by })
}
