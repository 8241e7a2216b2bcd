import type { components } from '../../build/api-types.d.ts'
import { api, ask, askPage, type Slice } from './client.ts'

// Webhooks of an account (contract §22).

export type Webhook = components['schemas']['Webhook']
export type NewWebhook = components['schemas']['NewWebhook']
export type Delivery = components['schemas']['WebhookDelivery']

/** Milliseconds between two looks at what came of a delivery. */
const PAUSE = 1_000

const pathTo = (id: string) => ({ path: { id } })

/** A page of the account's webhooks, the newest first. @throws Refused */
export function webhookPage(cursor: string): Promise<Slice<Webhook>> {
  return askPage(api.GET('/api/v1/webhooks/', { params: { query: { cursor } } }))
}

/** Adds a webhook. @throws Refused */
export function addWebhook(body: components['schemas']['WebhookInput']): Promise<NewWebhook> {
  return ask(api.POST('/api/v1/webhooks/', { body }))
}

/** Changes a webhook. @throws Refused */
export async function changeWebhook(id: string, body: components['schemas']['WebhookChange']): Promise<void> {
  await ask(api.PATCH('/api/v1/webhooks/{id}/', { params: pathTo(id), body }))
}

/** Deletes a webhook, and what waits for it. @throws Refused */
export async function deleteWebhook(id: string): Promise<void> {
  await ask(api.DELETE('/api/v1/webhooks/{id}/', { params: pathTo(id) }))
}

/** Gives a webhook another secret. @throws Refused */
export function rotateSecret(id: string): Promise<NewWebhook> {
  return ask(api.POST('/api/v1/webhooks/{id}/secret/', { params: pathTo(id) }))
}

/** Lets a webhook be tested. @throws Refused */
export function testWebhook(id: string): Promise<Delivery> {
  return ask(api.POST('/api/v1/webhooks/{id}/test/', { params: pathTo(id) }))
}

/** A page of what a webhook was told, and of what waits, the newest first. @throws Refused */
export function deliveryPage(id: string, cursor: string): Promise<Slice<Delivery>> {
  const params = { ...pathTo(id), query: { cursor } }
  return askPage(api.GET('/api/v1/webhooks/{id}/deliveries/', { params }))
}

/** Lets a webhook be told something again. @throws Refused */
export function redeliver(id: string, delivery: string): Promise<Delivery> {
  const params = { path: { id, delivery } }
  return ask(api.POST('/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver/', { params }))
}

/**
 * Waits until a webhook has got something, or until it fails: then all that waits is tried later.
 * @returns the first page of its deliveries
 * @throws Refused
 */
export async function awaitOutcome(id: string, delivery: string): Promise<Delivery[]> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
    const { retry_at: retry } = await ask(api.GET('/api/v1/webhooks/{id}/', { params: pathTo(id) }))
    const { items } = await deliveryPage(id, '')
    if (retry !== null || items.find((each) => each.id === delivery)?.status !== 'waiting') return items
  }
}
