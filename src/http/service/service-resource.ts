import type { Config } from '../../settings/config.ts'
import type { Group, Resource } from '../kit/resource.ts'
import { authenticateIfPresented } from '../middleware/authenticate.ts'
import { throttle } from '../middleware/throttle.ts'
import { json, shows } from '../openapi/answers.ts'
import * as handlers from './service-handlers.ts'
import { HEALTH, INDEX, LIVENESS, OFFER, ROOT, TEST_ACCOUNT } from './service-representation.ts'

/** Describes the resources that belong to no account. */
export function service(config: Config, documents: Resource[]): Group {
  return {
    tag: 'Service',
    text: 'The service itself: its index, this description, and its health.',
    resources: [
      {
        path: '/',
        guards: [],
        GET: {
          id: 'showRoot',
          summary: 'Show where the API is',
          answers: {
            200: shows(ROOT, 'VaryOfRoot'),
            302: { text: 'For browsers: the console, or the page of the API.', headers: ['VaryOfRoot', 'Location'] },
          },
          chain: [handlers.showRoot],
        },
      },
      {
        path: '/api/v1/',
        guards: [authenticateIfPresented, throttle('user')],
        GET: {
          id: 'showIndex',
          summary: 'Show the index',
          description: 'Links to the resources that the caller can use next; they depend on the token.',
          answers: { 200: shows(INDEX, 'LinkOfIndex') },
          chain: [handlers.showIndex],
        },
      },
      {
        path: '/api/v1/service/',
        guards: [throttle('user')],
        GET: {
          id: 'showService',
          summary: 'Show what the service offers',
          description: 'For pages that sign people up or in, and for the setup of clients.',
          answers: { 200: shows(OFFER.schema, 'Cache-ControlOfOffer') },
          chain: [handlers.showOffer],
        },
      },
      ...documents,
      {
        path: '/healthz',
        guards: [],
        GET: {
          id: 'showLiveness',
          summary: 'Check that the process runs',
          answers: { 200: shows(LIVENESS) },
          chain: [handlers.showLiveness],
        },
      },
      {
        path: '/readyz',
        guards: [],
        GET: {
          id: 'showReadiness',
          summary: 'Check that the service can work',
          description:
            'For load balancers. All callers share one check, whose result is good for a second. Without PowerDNS the ' +
            'service is ready, because reads work.',
          answers: {
            200: shows(HEALTH),
            503: { text: 'The database is unavailable, or the process is about to stop.', content: json(HEALTH) },
          },
          chain: [handlers.showReadiness],
        },
      },
      ...(config.ciControl ? [testAccounts] : []),
    ],
  }
}

/** Control by tests (contract §15.8). */
const testAccounts: Resource = {
  path: '/ci/accounts/',
  guards: [handlers.refusePages],
  POST: {
    id: 'createTestAccount',
    summary: 'Create an account for a test',
    description: 'It has no limit of domains, and a token with all permissions.',
    answers: { 201: shows(TEST_ACCOUNT) },
    errors: { 503: [] },
    chain: [handlers.createAccount],
  },
}
