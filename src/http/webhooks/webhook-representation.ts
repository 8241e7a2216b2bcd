import { isDomainName } from '../../dns/names.ts'
import { WEBHOOK_DOMAINS_MAX } from '../../limits.ts'
import { ACCOUNT_TYPES, DOMAIN_TYPES } from '../../service/activity/activity.ts'
import { type Group, GROUPS } from '../../service/webhooks/event-groups.ts'
import { type Delivery, REASONS, STATUSES, type Webhook, type WithSecret } from '../../service/webhooks/webhooks.ts'
import { array, boolean, nonBlankText } from '../fields/fields.ts'
import { type Component, COUNT, nullable, object, oneOf, ref, STRING, TIME, UUID } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'
import { ACTIVITY } from '../history/activity-representation.ts'

const events = array(
  (item) => GROUPS.find((group) => group === item) ?? { problem: `"${String(item)}" is not a valid choice.` },
  GROUPS.length,
  oneOf(...GROUPS),
)
  .test(
    'some',
    'Ensure this field has at least 1 element.',
    (value?: Group[]) => value === undefined || value.length > 0,
  )
  .test(
    'once',
    'Must not have the same element twice.',
    (value?: Group[]) => new Set(value).size === (value ?? []).length,
  )

const domains = array(
  (item) =>
    typeof item === 'string' && isDomainName(item)
      ? item
      : { problem: 'Must be the name of a domain, in lower case, without final dot.' },
  WEBHOOK_DOMAINS_MAX,
  STRING,
).nullable()

/** A webhook of an account (contract §22.1). */
export const WEBHOOK = representation<Webhook>()(['Webhook', 'NewWebhook'], {
  id: { read: UUID, text: 'Identifies the webhook.' },
  created: { read: TIME, text: 'The time of its creation.' },
  url: {
    write: nonBlankText({ trim: true }),
    text: 'Where it is told what happens: an https URL with a public address.',
    example: 'https://hooks.example.com/dns',
  },
  events: { write: events, text: 'Of what it is told.', example: ['rrsets', 'domains'] },
  domains: {
    write: domains,
    text: 'The names of the only domains of which it is told; null: all, and the account.',
    example: ['example.com'],
  },
  enabled: {
    write: boolean(),
    text: 'Whether it is told anything.',
    example: true,
    from: ({ disabled }) => disabled === null,
  },
  disabled: { read: nullable(TIME), text: 'Since when it is told nothing; null: it is.' },
  reason: { read: nullable(oneOf(...REASONS)), text: 'Why it is told nothing.', example: null },
  failing_since: { read: nullable(TIME), text: 'Since when it has failed; null: the last attempt succeeded.' },
  retry_at: { read: nullable(TIME), text: 'When it is tried again.' },
  secret: {
    readOnce: STRING,
    text: 'Signs what it is told (Standard Webhooks).',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    from: (webhook) => (webhook as WithSecret).secret,
  },
})

/** Something that a webhook is told (contract §22.3). */
export const DELIVERY = representation<Delivery>()(['WebhookDelivery'], {
  id: { read: UUID, text: 'Identifies what is told, in each attempt: the `webhook-id`.' },
  created: { read: TIME, text: 'When it happened.' },
  type: { read: STRING, text: 'What happened, as in the activity; or `test`.', example: 'rrsets_changed' },
  domain: { read: nullable(STRING), text: 'The domain that it is about, if any.', example: 'example.com' },
  entry: {
    read: nullable(UUID),
    text: 'The id of the entry in the activity; null for a test.',
    from: ({ entryId }) => entryId,
  },
  status: {
    read: oneOf(...STATUSES),
    text: 'Whether it waits, was delivered, or is not tried any more. `gone`: the entry went before it was delivered.',
  },
  attempts: { read: COUNT, text: 'How often it was tried.', example: 1 },
  attempted: { read: nullable(TIME), text: 'When it was last tried.' },
  answer: { read: nullable(COUNT), text: 'The status of the last answer; null: there was none.', example: 200 },
  problem: { read: nullable(STRING), text: 'Why the last attempt failed.', example: null },
})

/** What a receiver gets (contract §22.2). */
export const MESSAGE: Component = {
  title: 'WebhookMessage',
  ...object({
    type: oneOf(...DOMAIN_TYPES, ...ACCOUNT_TYPES, 'test'),
    timestamp: TIME,
    data: nullable(ref(ACTIVITY.schema)),
  }),
}
