import { described, STRING } from '../fields/schema.ts'
import type { Resource } from '../kit/resource.ts'
import { authenticate, requires } from '../middleware/authenticate.ts'
import { throttle } from '../middleware/throttle.ts'
import { pages } from '../openapi/answers.ts'
import { FILTERS, LINES, listActivity } from './activity-handlers.ts'
import { ACTIVITY } from './activity-representation.ts'

const listed = pages(ACTIVITY.schema, 'domainOfActivity', 'tokenOfActivity', ...FILTERS.slice(2, 4), 'typeOfActivity')

/** The activity of an account (contract §15.15). */
export const ACTIVITIES: Resource = {
  path: '/api/v1/activity/',
  guards: [authenticate, requires('reads'), throttle('dns_api_cheap')],
  GET: {
    id: 'listActivity',
    summary: 'List what happened in the account',
    description:
      'Newest first: the histories of all domains, also of deleted ones, and, for who may read the account, what happened to ' +
      `it. With \`Accept: ${LINES}\`, the response has all that match, one a line; with \`cursor\`, the id of a line, those after it. ` +
      'A page with filters can have few entries or none, while others follow: it looks at a part of them.',
    ...listed,
    query: [...listed.query, 'since', 'until', 'searchOfActivity'],
    answers: {
      200: {
        ...listed.answers[200],
        content: {
          ...listed.answers[200].content,
          [LINES]: described(STRING, 'An entry as JSON on each line.', '{"id":"…","type":"rrsets_changed"}\n'),
        },
      },
    },
    problems: ['since', 'until'],
    chain: [listActivity],
  },
}
