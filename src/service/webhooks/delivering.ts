import { createHmac } from 'node:crypto'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Reason } from '../../store/accounts/webhooks.ts'
import * as webhooks from '../../store/accounts/webhooks.ts'
import { type Db, transaction } from '../../store/database.ts'
import { takeTurn } from '../../store/turns.ts'
import type { Activity } from '../../store/zone/activity.ts'
import * as activity from '../../store/zone/activity.ts'
import type { Next } from '../../store/zone/webhook-deliveries.ts'
import * as store from '../../store/zone/webhook-deliveries.ts'
import type { System } from '../../system.ts'
import { DAY, HOUR, later, MINUTE, secondsBetween, type Timestamp, unixTime } from '../../time.ts'
import { record } from '../events.ts'
import { notify } from '../mails/notices.ts'
import { decrypt } from '../secrets/encryption.ts'
import { add, type Kind, type Scan } from '../work/work.ts'
import { GROUPING } from './event-groups.ts'
import { type Answer, post } from './receivers.ts'

/** Seconds until a receiver that fails is told the same again; the last one is repeated until it is given up. */
const PAUSES = [5, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR]

/** Seconds after the first failure at which it is given up, and deliveries that may wait. */
const FAILING = 3 * DAY
const WAITING_MAX = 10_000

/** Days for which other deliveries are kept, and how many of a webhook. */
const KEPT_DAYS = 7
const KEPT_MAX = 10_000

/** Milliseconds after which a webhook for which more waits lets others have their turn. */
const TURN = 20_000

/** Entries whose deliveries are made at a time. */
const BATCH = 1_000

/** Milliseconds between two looks for old deliveries, and for work that is missing. */
const PAUSE = 600_000

/** The work of telling a webhook what waits for it; its subject is the id. */
const KIND = 'webhook'

/** Lets a webhook be told what waits, once this transaction commits. */
export async function wake(system: System, trx: Db, ...told: { id: string; accountId: string }[]): Promise<void> {
  const due = system.now()
  await add(system, trx, ...told.map(({ id, accountId }) => ({ kind: KIND, subject: id, accountId, due })))
}

/** Makes the deliveries of what has happened. One process at a time does so. */
export const WEBHOOK_EVENTS: Scan = {
  name: 'webhook events',
  of: 'webhooks',
  async run(system, stopping) {
    while (!stopping.aborted && (await makeSome(system)));
  },
}

/** Deletes old deliveries, and stores the work again that a backup has left out. */
export const WEBHOOK_UPKEEP: Scan = {
  name: 'webhook upkeep',
  pause: PAUSE,
  isOn: ({ config }) => config.webhooks,
  async run(system) {
    const before = later(system.now(), -KEPT_DAYS * DAY)
    await store.removeOld(system.db, before, KEPT_MAX)
    await transaction(system.db, async (trx) => wake(system, trx, ...(await store.forgotten(trx))))
  },
}

/** Makes the deliveries of some entries. Returns whether there may be more. */
async function makeSome(system: System): Promise<boolean> {
  return transaction(system.db, async (trx) => {
    if (!(await takeTurn(trx, 'webhooks'))) return false
    if (!system.config.webhooks) {
      await store.forget(trx)
      return false
    }
    const { told, hasMore } = await store.make(trx, GROUPING, BATCH, system.now())
    await wake(system, trx, ...told)
    return hasMore
  })
}

/**
 * Tells a webhook what waits for it, one after the other, in the order of what happened. What fails is tried again, and
 * nothing after it is told before: so its receiver gets everything in order.
 * @param present the representation of an entry, as the API shows it
 */
export function webhookWork(present: (entry: Activity) => unknown): Kind {
  return {
    kind: KIND,
    ...{ all: 200, each: 4 },
    // Of Postgres' failures; those of receivers are noted, and the work goes on later.
    retry: Array<number>(100).fill(MINUTE),
    isOn: ({ config }) => config.webhooks,
    async run(system, { subject: id }, signal) {
      if (await store.isFull(system.db, id, WAITING_MAX)) await disable(system, id, 'backlog')
      const end = performance.now() + TURN
      while (performance.now() < end) {
        signal.throwIfAborted()
        const next = await store.next(system.db, id)
        if (next?.delivery == null) return undefined
        const pause = await step(system, id, { ...next, delivery: next.delivery }, { present, signal })
        if (pause !== undefined) return pause
      }
      return system.now()
    },
  }
}

type Waiting = Next & { delivery: NonNullable<Next['delivery']> }

/** Tells a webhook one thing. Returns when it may be told more; undefined: at once. */
async function step(
  system: System,
  id: string,
  next: Waiting,
  { present, signal }: { present: (entry: Activity) => unknown; signal: AbortSignal },
): Promise<Timestamp | undefined> {
  const { accountId, delivery, retryAt } = next
  if (!next.active) return later(system.now(), HOUR)
  if (!next.allowed) {
    await disable(system, id, 'rights')
    return undefined
  }
  if (retryAt !== null && retryAt > system.now()) return retryAt
  const entry = delivery.entryId === null ? null : await activity.find(system.db, accountId, delivery.entryId)
  if (entry === undefined) {
    await store.noteGone(system.db, delivery.id)
    return undefined
  }
  const body = JSON.stringify({
    type: entry?.type ?? 'test',
    timestamp: delivery.created,
    data: entry && present(entry),
  })
  const headers = await signed(system, id, delivery.id, body)
  return noted(system, id, next, await post(system.config, { url: next.url, headers, body }, signal))
}

/** Returns the headers of Standard Webhooks, with a signature of each secret. @throws Unavailable */
async function signed(system: System, id: string, messageId: string, body: string): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(unixTime(system.now())))
  const secrets = await webhooks.secrets(system.db, id, system.now())
  const signatures = secrets.map((secret) => {
    const key = decrypt(system, { table: 'webhook_secrets', owner: id, secret })
    return `v1,${createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'user-agent': 'Zoneplane',
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/** Notes what came of a request. Returns when the webhook may be told more; undefined: at once. */
async function noted(system: System, id: string, next: Waiting, answer: Answer): Promise<Timestamp | undefined> {
  const { delivery, url, failures, failingSince } = next
  const now = system.now()
  if (answer.problem === null) {
    system.metrics?.count('zoneplane_webhook_attempts_total', { outcome: 'delivered' })
    await transaction(system.db, async (trx) => {
      if (failures > 0) await store.noteSuccess(trx, id)
      await store.note(trx, delivery.id, { ...answer, status: 'delivered' }, now)
    })
    return undefined
  }
  system.metrics?.count('zoneplane_webhook_attempts_total', { outcome: 'failed' })
  const retryAt = later(now, PAUSES[failures] ?? PAUSES.at(-1)!)
  const isSame = await transaction(system.db, async (trx) => {
    // First the webhook, as whoever changes it does: so neither waits for the other.
    const isPresent = await store.noteFailure(trx, { id, url, retryAt, now })
    await store.note(trx, delivery.id, { ...answer, status: 'waiting' }, now)
    return isPresent
  })
  // It has another address by now.
  if (!isSame) return undefined
  const reason = answer.answer === 410 ? 'gone' : 'failing'
  if (reason === 'failing' && secondsBetween(failingSince ?? now, now) < FAILING) return retryAt
  await disable(system, id, reason)
  return undefined
}

const SENTENCES: Partial<Record<Reason, string>> = {
  gone: 'It has answered that it is gone for good (410).',
  failing: 'It has failed for three days.',
  backlog: `More than ${WAITING_MAX} events waited for it.`,
  rights: 'Whoever chose its address is not an admin of your account any more.',
}

/** Disables a webhook, and tells its account. */
async function disable(system: System, id: string, reason: Reason): Promise<void> {
  await transaction(system.db, async (trx) => {
    const webhook = await webhooks.disable(trx, id, reason, system.now())
    if (webhook === undefined) return
    const account = (await accounts.get(trx, webhook.accountId))!
    const sentence = `We tell ${new URL(webhook.url).host} nothing more of what happens in your account. ${SENTENCES[reason]!}`
    await notify(system, trx, account, 'webhook-disabled', sentence)
    record(system, trx, 'webhook_disabled', { account: account.id, webhook: id })
    system.metrics?.count('zoneplane_webhook_attempts_total', { outcome: 'disabled' })
  })
}
