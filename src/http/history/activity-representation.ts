import { ACCOUNT_TYPES, type Activity, DOMAIN_TYPES, WAYS } from '../../service/activity/activity.ts'
import { ACTIONS, SOURCES } from '../../service/domains/domain-history.ts'
import { PHASES } from '../../service/rollovers/rollovers.ts'
import { arrayOf, COUNT, nullable, object, oneOf, ref, STRING, TIME, UUID, VERSION } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'
import { AUTHOR_ROWS } from '../kit/author-rows.ts'
import { CHANGE } from '../kit/change-representation.ts'

const { owner, token } = AUTHOR_ROWS

/** Shows a value of an entry of a domain's history, and null of an event of an account. */
const ofHistory =
  <T>(get: (entry: Activity) => T) =>
  (entry: Activity) =>
    entry.subject === null ? get(entry) : null

/** What happened in an account (contract §15.15). */
export const ACTIVITY = representation<Activity>()(['Activity'], {
  id: { read: UUID, text: 'Identifies the entry; of the history of a domain, that of its entry there.' },
  created: { read: TIME, text: 'When it happened.' },
  type: { read: oneOf(...DOMAIN_TYPES, ...ACCOUNT_TYPES), text: 'What happened.', example: 'rrsets_changed' },
  domain: { read: nullable(STRING), text: 'The name of the domain that it is about, if any.', example: 'example.com' },
  version: {
    read: nullable(VERSION),
    text: "The domain's version since then; null for what is not in its history.",
    from: ofHistory(({ version }) => version),
  },
  source: {
    read: oneOf(...SOURCES, ...WAYS),
    text: 'The origin of a write; otherwise how whoever did it came.',
    example: 'api',
  },
  owner,
  token,
  request_id: { read: nullable(STRING), text: 'The `X-Request-Id` of the response.', example: 'deploy-42' },
  message: {
    read: nullable(STRING),
    text: 'Why, in the words of who wrote; null if they did not say.',
    example: 'Ticket 4711: move the mail to the new host',
  },
  count: {
    read: nullable(COUNT),
    text: 'The number of changed RRsets; null for what is not in a history.',
    example: 1,
    from: ofHistory(({ count }) => count),
  },
  rollover: {
    read: nullable(object({ action: oneOf(...ACTIONS), phase: nullable(oneOf(...PHASES)) })),
    text: 'What happened to the replacement of the keys, as in the history.',
    example: null,
  },
  subject: {
    read: nullable(
      object({
        token: nullable(UUID),
        policy: nullable(UUID),
        factor: nullable(UUID),
        member: nullable(UUID),
        webhook: nullable(UUID),
        state: nullable(STRING),
        name: nullable(STRING),
      }),
    ),
    text: 'What an event of the account is about: ids, the state of a delegation, and the present name of the token or the address of the member. null for entries of a history.',
    example: null,
    from: ({ subject, subjectName: name }) => {
      if (subject === null) return null
      const { token = null, policy = null, factor = null, member = null, webhook = null, state = null } = subject
      return { token, policy, factor, member, webhook, state, name }
    },
  },
  address: {
    read: nullable(STRING),
    text: 'The address of the client of an event of the account, as the log of the service shows it.',
    example: '192.0.2.7',
  },
  changes: {
    read: nullable(arrayOf(ref(CHANGE.schema))),
    text: 'The changes of RRsets; null if there are none, or if they are larger than about 2 KiB.',
    from: ofHistory(({ changes }) => changes && changes.map((change) => CHANGE.present(change))),
  },
})
