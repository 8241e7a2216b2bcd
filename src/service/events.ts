import { reasonOf } from '../errors.ts'
import * as store from '../store/zone/activity.ts'
import type { System } from '../system.ts'
import { isUuid, NIL_UUID } from './ids.ts'

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
  | 'delegation_changed'

interface Circumstances {
  /** null: the account does not exist. */
  account: string | null
  token?: string
  policy?: string
  factor?: string
  member?: string
  /** The domain's name. */
  domain?: string
  /** The state of its delegation. */
  state?: string
  /** The id of the acting token, or the kind of access without one; undefined: the operator. */
  by?: string | undefined
}

/** Ways to log in, of which each makes a token. */
const LOGINS = ['password', 'passkey', 'sign-on']

/**
 * Writes an event to the log, and stores it for the activity of its account (contract §15.15), after the commit. The line has
 * no secret and no e-mail address; the log of a request adds the request's id. `by` is the id of the acting token, otherwise
 * `password`, `passkey`, `sign-on`, `link` (in a mail), `request` (with none of these), or `operator`. What is done stays
 * done if the event cannot be stored.
 */
export async function record(
  system: System,
  event: Event,
  { by = NIL_UUID, account, ...subject }: Circumstances,
): Promise<void> {
  const { log, metrics } = system
  metrics?.count('zoneplane_events_total', { event })
  log.info('event', { event, account, ...subject, by: by === NIL_UUID ? 'operator' : by })
  if (account === null) return
  const stored = store.add(system.pools.marks, {
    ...authorOf(system, event, account, by),
    ...{ accountId: account, now: system.now(), subject: JSON.stringify(subject) },
  })
  const storing = stored.catch((error: unknown) => {
    log.warn('event not stored', { event, account, reason: reasonOf(error) })
  })
  // Otherwise the time of the answer would tell whether there is such an account.
  if (event !== 'login_failed') await storing
}

/** Who did it, and how, as far as the request tells. */
function authorOf(system: System, event: Event, account: string, by: string) {
  const { request: requestId = null, person: ownerId = null, address = null } = system
  const origin = { requestId, address }
  if (by === NIL_UUID) return { ...origin, event, source: 'operator', ownerId: null, tokenId: null }
  if (isUuid(by)) return { ...origin, event, source: 'api', ownerId, tokenId: by }
  return event === 'token_created' && LOGINS.includes(by)
    ? { ...origin, event: 'login_succeeded', source: by, ownerId: account, tokenId: null }
    : { ...origin, event, source: by, ownerId: null, tokenId: null }
}
