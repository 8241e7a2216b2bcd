import { BODY_FORM, WEBHOOKS_MAX } from '../../limits.ts'
import type { Group } from '../kit/resource.ts'
import { authenticate, requires } from '../middleware/authenticate.ts'
import { body } from '../middleware/body.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, NOTHING, pages, shows } from '../openapi/answers.ts'
import * as webhooks from './webhook-handlers.ts'
import { DELIVERY, MESSAGE, WEBHOOK } from './webhook-representation.ts'

const form = body(BODY_FORM)
const passive = throttle('account_management_passive')
// Each of these lets the service send a request.
const sending = throttle({ reads: 'account_management_passive', writes: 'account_management_active' })
const managing = [authenticate, requires('webhooks')]

const DISABLED = { 409: ['This webhook is disabled. Enable it first.'] }
const PATH = '/api/v1/webhooks/'

/** Webhooks (contract §22). */
export const WEBHOOKS: Group = {
  tag: 'Webhooks',
  text:
    'Addresses that are told what happens in the account, in the format of Standard Webhooks. Managing them needs a login ' +
    'token that may manage tokens.',
  resources: [
    {
      path: PATH,
      guards: [...managing, sending],
      GET: { id: 'listWebhooks', summary: 'List webhooks', ...pages(WEBHOOK.schema), chain: [webhooks.listWebhooks] },
      POST: {
        id: 'createWebhook',
        summary: 'Add a webhook',
        takes: json(WEBHOOK.input('WebhookInput', ['url', 'events'])),
        answers: { 201: shows(WEBHOOK.full) },
        errors: { 403: [`Limit exceeded: an account can have at most ${WEBHOOKS_MAX} webhooks.`] },
        chain: [form, webhooks.createWebhook],
      },
    },
    {
      path: `${PATH}:id/`,
      guards: [...managing, sending],
      GET: {
        id: 'showWebhook',
        summary: 'Show a webhook',
        answers: { 200: shows(WEBHOOK.schema) },
        chain: [webhooks.showWebhook],
      },
      PATCH: {
        id: 'changeWebhook',
        summary: 'Change, enable or disable a webhook',
        description: 'Forgets its failures: what waits is tried at once.',
        takes: json(WEBHOOK.input('WebhookChange')),
        answers: { 200: shows(WEBHOOK.schema) },
        chain: [form, webhooks.changeWebhook],
      },
      DELETE: {
        id: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Succeeds also without such a webhook.',
        answers: { 204: NOTHING },
        chain: [webhooks.deleteWebhook],
      },
    },
    {
      path: `${PATH}:id/secret/`,
      guards: [...managing, passive],
      POST: {
        id: 'rotateWebhookSecret',
        summary: 'Make another secret',
        description: 'The one of before also signs for a day.',
        answers: { 201: shows(WEBHOOK.full) },
        chain: [webhooks.rotateSecret],
      },
    },
    {
      path: `${PATH}:id/test/`,
      guards: [...managing, sending],
      POST: {
        id: 'testWebhook',
        summary: 'Test a webhook',
        description: 'Sends a message of the type `test`, after what waits, which is tried at once.',
        answers: { 202: shows(DELIVERY.schema) },
        errors: DISABLED,
        chain: [webhooks.testWebhook],
      },
    },
    {
      path: `${PATH}:id/deliveries/`,
      guards: [...managing, passive],
      GET: {
        id: 'listWebhookDeliveries',
        summary: 'List what a webhook was told, and what waits',
        description: 'Of the last seven days.',
        ...pages(DELIVERY.schema),
        chain: [webhooks.listDeliveries],
      },
    },
    {
      path: `${PATH}:id/deliveries/:delivery/redeliver/`,
      guards: [...managing, sending],
      POST: {
        id: 'redeliverToWebhook',
        summary: 'Tell a webhook something again',
        description: 'With the same `webhook-id`, before what waits, which is tried at once.',
        answers: { 202: shows(DELIVERY.schema) },
        errors: DISABLED,
        chain: [webhooks.redeliver],
      },
    },
  ],
  messages: [
    {
      id: 'activity',
      summary: 'What happened in the account',
      description:
        'Signed as Standard Webhooks says: `webhook-signature` has a signature of `webhook-id`, `webhook-timestamp` and the ' +
        'body for each secret. An answer 2xx within 10 seconds takes it, 410 ends the webhook; all others are tried again.',
      takes: json(MESSAGE),
    },
  ],
}
