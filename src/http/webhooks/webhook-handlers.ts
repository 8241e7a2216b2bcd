import * as webhooks from '../../service/webhooks/webhooks.ts'
import { readForm } from '../fields/fields.ts'
import { answer, answerUncached } from '../kit/answer.ts'
import type { Context } from '../kit/context.ts'
import { deletion, ownedList } from '../kit/owned-list.ts'
import { answerList } from '../kit/paging.ts'
import { DELIVERY, WEBHOOK } from './webhook-representation.ts'

export const { list: listWebhooks, show: showWebhook } = ownedList(webhooks, (webhook) => WEBHOOK.present(webhook))

export async function createWebhook(ctx: Context): Promise<void> {
  const { url, events, domains } = WEBHOOK.shape
  const input = readForm(ctx.state.body(), { url, events, domains }, ['url', 'events'])
  answerUncached(ctx, 201, WEBHOOK.presentFull(await webhooks.create(ctx.state, input)))
}

export async function changeWebhook(ctx: Context): Promise<void> {
  const input = () => WEBHOOK.readForm(ctx.state.body())
  answer(ctx, 200, WEBHOOK.present(await webhooks.change(ctx.state, ctx.params['id']!, input)))
}

export const deleteWebhook = deletion(webhooks.remove)

export async function rotateSecret(ctx: Context): Promise<void> {
  answerUncached(ctx, 201, WEBHOOK.presentFull(await webhooks.rotate(ctx.state, ctx.params['id']!)))
}

export async function testWebhook(ctx: Context): Promise<void> {
  answer(ctx, 202, DELIVERY.present(await webhooks.test(ctx.state, ctx.params['id']!)))
}

export async function listDeliveries(ctx: Context): Promise<void> {
  const id = ctx.params['id']!
  await answerList(ctx, {
    ids: 'uuids',
    page: (cursor) => webhooks.listDeliveries(ctx.state, id, cursor),
    total: () => webhooks.countDeliveries(ctx.state, id),
    present: (delivery) => DELIVERY.present(delivery),
  })
}

export async function redeliver(ctx: Context): Promise<void> {
  const { id, delivery } = ctx.params
  answer(ctx, 202, DELIVERY.present(await webhooks.redeliver(ctx.state, id!, delivery!)))
}
