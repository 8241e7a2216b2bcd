import { randomBytes } from 'node:crypto'
import { Conflict, Invalid, limitExceeded, orNotFound } from '../../errors.ts'
import { WEBHOOKS_MAX } from '../../limits.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Webhook, WebhookSettings } from '../../store/accounts/webhooks.ts'
import * as store from '../../store/accounts/webhooks.ts'
import { confirmPrimary, type Db } from '../../store/database.ts'
import type { Delivery } from '../../store/zone/webhook-deliveries.ts'
import * as deliveries from '../../store/zone/webhook-deliveries.ts'
import type { System } from '../../system.ts'
import { DAY, later } from '../../time.ts'
import type { Visit } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import { notify } from '../mails/notices.ts'
import type { Cursor, Page } from '../pagination.ts'
import { encrypt } from '../secrets/encryption.ts'
import { withRights } from '../tokens/rights.ts'
import { wake } from './delivering.ts'
import { readUrl } from './receivers.ts'

// Addresses that are told what happens in an account (contract §22).

export { REASONS } from '../../store/accounts/webhooks.ts'
export { STATUSES } from '../../store/zone/webhook-deliveries.ts'
export type { Delivery, Webhook }

/** The settings of a webhook in a request; an absent one stays as it is, or has its default: all domains. */
export type WebhookInput = Partial<WebhookSettings> & { enabled?: boolean }

/** A webhook and the text of its secret, which no other answer has. */
export interface WithSecret extends Webhook {
  secret: string
}

/** Seconds for which the secret of before signs, too. */
const ROTATION = DAY

/** Octets of a secret, as Standard Webhooks asks for. */
const SECRET_LENGTH = 32

/** Returns a page of the account's webhooks, newest first. */
export async function list({ system, actor }: Visit, cursor?: Cursor): Promise<Page<Webhook>> {
  return store.page(system.db, actor.accountId, cursor)
}

/** Counts the webhooks of `list`. */
export async function count({ system, actor }: Visit): Promise<number> {
  return store.count(system.db, actor.accountId)
}

/** @throws NotFound */
export async function get({ system, actor }: Visit, id: string): Promise<Webhook> {
  return orNotFound(isUuid(id) ? await store.find(system.db, actor.accountId, id) : undefined)
}

/** Adds a webhook; a mail tells the account. @throws Invalid; Denied if the account has WEBHOOKS_MAX */
export async function create(
  visit: Visit,
  { url, events, domains = null }: WebhookInput & Pick<WebhookSettings, 'url' | 'events'>,
): Promise<WithSecret> {
  const { system, actor } = visit
  const { accountId, memberId, tokenId: by } = actor
  const settings = { url: checked(system, url), events, domains }
  return withRights(visit, 'webhooks', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, accountId))
    if ((await store.count(trx, accountId)) >= WEBHOOKS_MAX) throw limitExceeded('an account', WEBHOOKS_MAX, 'webhooks')
    const webhook = await store.insert(trx, { ...settings, accountId, memberId, now: system.now() })
    const secret = await addSecret(system, trx, webhook.id)
    await notify(system, trx, account, 'webhook-added', new URL(webhook.url).host)
    record(system, trx, 'webhook_created', { account: accountId, webhook: webhook.id, by })
    return { ...webhook, secret }
  })
}

/**
 * Changes the settings that the input has, enables the webhook or disables it if the input says so, and forgets failures; a
 * mail tells of another address.
 * @param input called once the webhook has been found
 * @throws NotFound, Invalid
 */
export async function change(visit: Visit, id: string, input: () => WebhookInput): Promise<Webhook> {
  await get(visit, id)
  const { system, actor } = visit
  const { accountId, memberId, tokenId: by } = actor
  const { enabled, ...given } = input()
  return withRights(visit, 'webhooks', [], async (trx) => {
    const account = orNotFound(await accounts.lock(trx, accountId))
    const present = orNotFound(await store.lock(trx, accountId, id))
    const { events, domains } = present
    // One that stays is examined at each attempt anyhow.
    const url = given.url === undefined ? present.url : checked(system, given.url)
    const settings = { events, domains, ...given, url }
    const isMoved = url !== present.url
    // Whoever chooses the address is the one who must be allowed to read what is sent to it.
    await store.change(trx, id, settings, isMoved ? memberId : undefined)
    if (enabled === true) await store.enable(trx, id)
    if (enabled === false) await store.disable(trx, id, 'request', system.now())
    await wake(system, trx, { id, accountId })
    if (isMoved) await notify(system, trx, account, 'webhook-added', new URL(url).host)
    record(system, trx, 'webhook_changed', { account: accountId, webhook: id, by })
    return (await store.find(trx, accountId, id))!
  })
}

/** Deletes a webhook, if it exists, with what waits for it. */
export async function remove(visit: Visit, id: string): Promise<void> {
  if (!isUuid(id)) return
  const { system, actor } = visit
  const { accountId, tokenId: by } = actor
  const existed = await withRights(visit, 'webhooks', [], async (trx) => {
    if (!(await store.remove(trx, accountId, id))) return false
    record(system, trx, 'webhook_deleted', { account: accountId, webhook: id, by })
    return true
  })
  if (!existed) await confirmPrimary(system.db)
}

/** Gives a webhook another secret; the one of before signs, too, for ROTATION. @throws NotFound */
export async function rotate(visit: Visit, id: string): Promise<WithSecret> {
  const { system } = visit
  return withWebhook(visit, id, async (trx, webhook) => {
    const secret = await addSecret(system, trx, id)
    const { accountId, tokenId: by } = visit.actor
    record(system, trx, 'webhook_changed', { account: accountId, webhook: id, by })
    return { ...webhook, secret }
  })
}

/** Tells a webhook that it is tested, after what waits, which is tried at once. @throws NotFound; Conflict if it is disabled */
export async function test(visit: Visit, id: string): Promise<Delivery> {
  return withEnabled(visit, id, (trx) => deliveries.addTest(trx, id, visit.system.now()))
}

/** Returns a page of the deliveries of a webhook, newest first. @throws NotFound */
export async function listDeliveries(visit: Visit, id: string, cursor?: Cursor): Promise<Page<Delivery>> {
  await get(visit, id)
  return deliveries.page(visit.system.db, id, cursor)
}

/** Counts the deliveries of `listDeliveries`. */
export async function countDeliveries({ system }: Visit, id: string): Promise<number> {
  return deliveries.count(system.db, id)
}

/** Delivers something again, under its id, before what waits. @throws NotFound; Conflict if the webhook is disabled */
export async function redeliver(visit: Visit, id: string, deliveryId: string): Promise<Delivery> {
  return withEnabled(visit, id, async (trx) =>
    orNotFound(isUuid(deliveryId) ? await deliveries.repeat(trx, id, deliveryId) : undefined),
  )
}

/** Runs `work`, which adds something that waits for the webhook; all of that is tried at once. */
async function withEnabled(visit: Visit, id: string, work: (trx: Db) => Promise<Delivery>): Promise<Delivery> {
  return withWebhook(visit, id, async (trx, { disabled }) => {
    if (disabled !== null) throw new Conflict('This webhook is disabled. Enable it first.')
    const delivery = await work(trx)
    await store.hasten(trx, id)
    await wake(visit.system, trx, { id, accountId: visit.actor.accountId })
    return delivery
  })
}

async function withWebhook<T>(visit: Visit, id: string, work: (trx: Db, webhook: Webhook) => Promise<T>): Promise<T> {
  return withRights(visit, 'webhooks', [], async (trx) =>
    work(trx, orNotFound(isUuid(id) ? await store.lock(trx, visit.actor.accountId, id) : undefined)),
  )
}

/** Returns a URL in its usual spelling. @throws Invalid */
function checked({ config }: System, url: string): string {
  const read = readUrl(config, url)
  if ('problem' in read) throw Invalid.field('url', read.problem)
  return read.url
}

async function addSecret(system: System, trx: Db, id: string): Promise<string> {
  const octets = randomBytes(SECRET_LENGTH)
  const secret = encrypt(system, octets, { table: 'webhook_secrets', owner: id })
  await store.addSecret(trx, id, secret, later(system.now(), ROTATION))
  return `whsec_${octets.toString('base64')}`
}
