import type { Resource } from '../kit/resource.ts'
import { authenticate, authenticateForDomain, requires } from '../middleware/authenticate.ts'
import { throttle } from '../middleware/throttle.ts'
import { pages, shows } from '../openapi/answers.ts'
import { checkDelegation, listDelegations, showDelegation } from './delegation-handlers.ts'
import { DELEGATION, DOMAIN_STATE } from './delegation-representation.ts'

/** The check of a domain at its parent zone (contract §15.9). */
export const DELEGATION_OF_DOMAIN: Resource = {
  path: '/api/v1/domains/:name/delegation/',
  guards: [authenticateForDomain, throttle({ reads: 'dns_api_cheap', writes: 'dns_api_per_domain_expensive' })],
  GET: {
    id: 'showDelegation',
    summary: 'Show whether the domain is delegated and secure',
    description: 'As the last check found it: this request asks nobody.',
    answers: { 200: shows(DELEGATION.schema) },
    chain: [showDelegation],
  },
  POST: {
    id: 'checkDelegation',
    summary: 'Check the delegation now',
    description:
      'Asks all servers of the parent zone, which takes some seconds. A check of the last 10 seconds is the answer, too.',
    answers: { 200: shows(DELEGATION.schema) },
    errors: { 503: [] },
    chain: [checkDelegation],
  },
}

/** The last checks of all domains (contract §15.9). */
export const DELEGATIONS: Resource = {
  path: '/api/v1/delegations/',
  guards: [authenticate, requires('reads'), throttle('dns_api_cheap')],
  GET: {
    id: 'listDelegations',
    summary: 'Show which domains are delegated and secure',
    description: 'As the last checks found them; the newest domain first.',
    ...pages(DOMAIN_STATE.schema, 'state'),
    problems: ['state'],
    chain: [listDelegations],
  },
}
