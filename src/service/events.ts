import { reasonOf } from '../errors.ts'
import { sendAlong } from '../store/connections/prepared-query.ts'
import { type Db, onceCommitted } from '../store/database.ts'
import * as store from '../store/zone/activity.ts'
import type { System } from '../system.ts'
import { isUuid, NIL_UUID } from './ids.ts'

/** An event of an account, its tokens, the settings of its domains, or what the operator does to these, under a stable name (docs/operators/monitor.md). */
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
  | 'note_changed'
  | 'domain_suspended'
  | 'domain_resumed'
  | 'domain_moved'
  | 'delegation_changed'
  | 'webhook_created'
  | 'webhook_changed'
  | 'webhook_deleted'
  | 'webhook_disabled'

interface Circumstances extends store.Subject {
  account: string
  /** The id of the acting token, or the kind of access without one; undefined: the operator. */
  by?: string | undefined
}

/** Ways to log in, of which each makes a token. */
const LOGINS = ['password', 'passkey', 'sign-on']

/**
 * Stores an event for the activity of its account (contract §15.15) in the transaction of the change, with its next
 * statement, and writes it to the log once that is committed. The line has no secret and no e-mail address; the log of a
 * request adds the request's id. `by` is the id of the acting token, otherwise `password`, `passkey`, `sign-on`, `link` (in
 * a mail), `request` (with none of these), or `operator`.
 */
export function record(system: System, trx: Db, event: Event, circumstances: Circumstances): void {
  void sendAlong(add(system, trx, event, circumstances))
  onceCommitted(trx, () => {
    tell(system, event, circumstances)
  })
}

/** A refusal, which has no transaction. */
export interface Refusal {
  event: 'login_failed' | 'code_failed'
  /** null: it does not exist, or is not known. */
  account: string | null
  by: string
}

/** Stores a refusal of an account for its activity. If that fails, only the log tells it. */
export async function storeRefusal(
  system: System,
  { event, ...circumstances }: Refusal & { account: string },
): Promise<void> {
  await add(system, system.pools.marks, event, circumstances).catch((error: unknown) => {
    system.log.warn('event not stored', { event, account: circumstances.account, reason: reasonOf(error) })
  })
}

/** Writes an event to the log. */
export function tell(
  { log, metrics }: System,
  event: Event,
  { by = NIL_UUID, ...ids }: Omit<Circumstances, 'account'> & { account: string | null },
): void {
  metrics?.count('zoneplane_events_total', { event })
  log.info('event', { event, ...ids, by: by === NIL_UUID ? 'operator' : by })
}

async function add(
  system: System,
  db: Db,
  event: Event,
  { by = NIL_UUID, account, ...subject }: Circumstances,
): Promise<void> {
  await store.add(db, {
    ...authorOf(system, event, account, by),
    ...{ accountId: account, now: system.now(), subject: JSON.stringify(subject) },
  })
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
